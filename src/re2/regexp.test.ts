import { describe, expect, it } from 'vitest';
import { type Regexp, compileRegexp } from './regexp.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';

function regexp(pattern: string): Regexp {
  const compiled = compileRegexp(pattern);
  if ('error' in compiled) throw new Error(compiled.error);
  return compiled;
}

describe('RE2', () => {
  it.each([
    ['a|ab', 'ab', 'a'],
    ['ab|a', 'ab', 'ab'],
    ['a*?', 'aaa', ''],
    ['(?U)a+', 'aaa', 'a'],
    ['(a+)(b+)', 'xaabby', 'aabb'],
    ['(?i)HeLLo', 'say hello', 'hello'],
    ['(?i)k', '\u212a', '\u212a'],
    ['(?i)É', 'é', 'é'],
    ['(?s)a.b', 'a\nb', 'a\nb'],
    ['a.b', 'a\nb', undefined],
    ['(?m)^b$', 'a\nb\nc', 'b'],
    ['^b', 'a\nb', undefined],
    ['\\bfoo\\b', 'a foo b', 'foo'],
    ['\\Boo', 'foo', 'oo'],
    ['[^a-c]+', 'abcxyz', 'xyz'],
    ['[[:digit:][:^ascii:]]+', 'ab1é2', '1é2'],
    ['\\d{2,3}', '1234', '123'],
    ['x{0}y', 'xy', 'y'],
    ['\\pL+', '12 αβγ', 'αβγ'],
    ['\\p{^Greek}', 'αx', 'x'],
    ['\\P{Lu}+', 'ABcD', 'c'],
    ['\\Qa.b\\E+', 'a.bb', 'a.bb'],
    ['\\x{1F600}|\\x41|\\102', 'B', 'B'],
    ['.', '😀', '😀'],
    ['(?:(?i)A)b', 'ab', 'ab'],
    ['(|a)*', 'aa', ''],
    ['(?P<name>a)(?<other>b)', 'ab', 'ab'],
  ])('%s finds in %j: %j', (pattern, text, found) => {
    expect(regexp(pattern).find(text)).toBe(found);
    expect(regexp(pattern).test(text)).toBe(found !== undefined);
  });

  it('finds all that do not overlap', () => {
    expect(regexp('a*').findAll('baaac', -1)).toEqual(['', 'aaa', '']);
    expect(regexp('').findAll('😀b', -1)).toEqual(['', '', '']);
    expect(regexp('[0-9]+').findAll('1 22 333', 2)).toEqual(['1', '22']);
    expect(regexp('\\bx').findAll('x xx', -1)).toEqual(['x', 'x']);
  });

  it.each([
    ['(', 'error parsing regexp: missing closing ): `(`'],
    ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
    ['(a{100}){11}', 'error parsing regexp: invalid repeat count: `{11}`'],
    ['(?=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    ['\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
  ])('refuses %s', (pattern, error) => {
    expect(compileRegexp(pattern)).toEqual({ error });
  });

  it('refuses patterns that grow too large', () => {
    expect(compileRegexp(`(?:${'[a-z]{40}b'.repeat(300)}){25}`)).toEqual({ error: 'error parsing regexp: expression too large: ``' });
  });

  it('does not compile what is only checked', () => {
    // A hundred such patterns in 1.2 KB each made programs of two million steps.
    for (let index = 0; index < 100; index++) expect(compileRegexp(`${'[a-b]{990}'.repeat(40)}${index}`)).not.toHaveProperty('error');
    const spent = new StepBudget(1_000_000);
    expect(regexp(`${'[a-b]{990}'.repeat(40)}x`).test('ab', spent)).toBe(false);
    // Compiling took 40 × 990 steps and as many for the automaton, less the 200 for each character that every pattern has.
    expect(spent.spent).toBeGreaterThan(1_000);
  });

  it.each([
    ['many letters', 'a'.repeat(100_001)],
    ['repetitions of nothing', `(?:${'()'.repeat(1_000)}){1000}`],
    ['repetitions of much', `(?:${'ab'.repeat(100)}){1000}`],
  ])('refuses %s before it is compiled', (_what, pattern) => {
    expect(compileRegexp(pattern)).toEqual({ error: 'error parsing regexp: expression too large: ``' });
  });

  it('counts the steps of patterns that have many states', () => {
    // As many sets of places as the text has characters, each of hundreds: two seconds for 30,000 characters, were they all made.
    const text = Array.from({ length: 30_000 }, (_, index) => (Math.sin(index * index) < 0 ? 'a' : 'b')).join('');
    const budget = new StepBudget(500_000);
    expect(() => regexp('[ab]*a[ab]{900}c').test(text, budget)).toThrow(BudgetExceeded);
    expect(budget.left).toBe(0);
  });

  it('counts nothing for texts that pass through known states', () => {
    const name = regexp('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$').keep();
    const budget = new StepBudget(10);
    for (let index = 0; index < 100; index++) expect(name.test(`${'abc.'.repeat(60)}x${index}`, budget)).toBe(true);
    expect(budget.spent).toBe(0);
  });

  it('counts classes of characters by their ranges', () => {
    const budget = new StepBudget(1_000_000);
    expect(() => regexp(`[${'\\pL'.repeat(5_000)}]`).test('a', budget)).toThrow(BudgetExceeded);
    expect(() => regexp('(?i)[é-ÿ]'.repeat(5_000)).test('a', new StepBudget(1_000_000))).toThrow(BudgetExceeded);
    expect(regexp('(?i)\\p{Greek}é').test('ΑÉ')).toBe(true);
  });

  it('takes time linear in the text for patterns that make others backtrack', () => {
    const text = `${'a'.repeat(100_000)}!`;
    for (const pattern of ['(a+)+$', '(a|a)*b', '(a*)*(a*)*(a*)*z', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a?){200}a{300}b'])
      expect(regexp(pattern).test(text)).toBe(false);
  });

  it('gives up on searches that look too far ahead too often', () => {
    expect(() => regexp('a.*z|a').findAll('a'.repeat(20_000), -1)).toThrow(BudgetExceeded);
  });

  it('forgets states rather than to keep them all', () => {
    // Some 2^16 states, were they all kept.
    const text = Array.from({ length: 5_000 }, (_, index) => ((index * 7919) % 13 < 6 ? 'a' : 'b')).join('');
    expect(regexp('a[ab]{16}c').test(text)).toBe(false);
    expect(regexp('a[ab]{16}c').test(`${text}a${'b'.repeat(16)}c`)).toBe(true);
  });
});
