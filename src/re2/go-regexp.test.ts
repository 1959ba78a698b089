import { describe, expect, it } from 'vitest';
import { goRegexpError } from './go-regexp.ts';

describe('goRegexpError', () => {
  it.each([
    '',
    'abc',
    '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    '(?i)a|b',
    '(?P<x>a)(?<y>b)',
    'a{2}b{3,}c{1,4}?',
    'a{',
    '{a}',
    '[]a]',
    '[^]a]',
    '[a-]',
    '[[:alpha:]]',
    '\\pL\\p{Greek}',
    '\\Q(\\E',
    '\\x{10ffff}',
    '\\.\\-\\/',
    'é+',
    '(?s:.)*',
  ])('takes %s', (pattern) => {
    expect(goRegexpError(pattern)).toBeUndefined();
  });

  it.each([
    ['(', 'missing closing ): `(`'],
    ['a)', 'unexpected ): `a)`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a+?+', 'invalid nested repetition operator: `+?+`'],
    ['x{1001}', 'invalid repeat count: `{1001}`'],
    ['x{3,2}', 'invalid repeat count: `{3,2}`'],
    ['[abc', 'missing closing ]: `[abc`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['\\p{Nope}', 'invalid character class range: `\\p{Nope}`'],
    ['\\y', 'invalid escape sequence: `\\y`'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?<=a)', 'invalid named capture: `(?<=a)`'],
    ['(?P<a', 'invalid named capture: `(?P<a`'],
  ])('refuses %s', (pattern, error) => {
    expect(goRegexpError(pattern)).toBe(`error parsing regexp: ${error}`);
  });

  it('is linear on hostile input', () => {
    const started = performance.now();
    for (const part of ['(', '[', '\\Q', 'a{1', '((?', '[[:']) goRegexpError(part.repeat(50_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
