import { describe, expect, test } from 'vitest';
import { Random } from '../util/test-random.ts';
import { SelectorSyntaxError, parseLabelSelector } from './label-selector.ts';

const labels = { app: 'web', n: '5', 'example.com/x': '' };

describe('label selectors', () => {
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['other!=web', true],
    ['app in (web,db)', true],
    ['app in ()', false],
    ['example.com/x in ()', true],
    ['app notin (db)', true],
    ['other notin (db)', true],
    ['app', true],
    ['!app', false],
    ['!other', true],
    ['app=web,!other , n', true],
    ['app=web,app=db', false],
    ['app=', false],
    ['n>3', true],
    ['n<5', false],
    ['app>3', false],
    ['in in (in)', false],
    ['constructor', false],
  ])('%s', (text, expected) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(expected);
  });

  test.each([
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a b=c', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['n>x', `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`],
    ['app in (web', "unable to parse requirement: found '', expected: ',' or ')'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    [
      'x/y/z=1',
      `unable to parse requirement: <nil>: Invalid value: "x/y/z": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ])('refuses %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorSyntaxError(message));
  });

  test('prints canonically', () => {
    expect(parseLabelSelector(' b notin (y, x),a==1,!c ,d>3').toString()).toBe('a==1,b notin (x,y),!c,d>3');
  });
});

test('has an end', () => {
  const requirements = (count: number): string => Array.from({ length: count }, (_, index) => `a!=${index}`).join(',');
  expect(parseLabelSelector(requirements(1000)).requirements).toHaveLength(1000);
  expect(() => parseLabelSelector(requirements(1001))).toThrow('a selector may have at most 1000 requirements');
});

test('values and the errors over them have limits', () => {
  const of = (count: number, value: string): string => `a in (${Array.from({ length: count }, (_, index) => `${value}${index}`).join(',')})`;
  expect(parseLabelSelector(of(10_000, 'v')).requirements[0]!.values).toHaveLength(10_000);
  expect(() => parseLabelSelector(of(10_001, 'v'))).toThrow('a selector may have at most 10000 values');
  expect(() => parseLabelSelector(','.repeat(1_000_000))).toThrow('a selector may have at most 10000 values');
  const message = (() => {
    try {
      return parseLabelSelector(of(10_000, '-')).toString();
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(message.split('Invalid value').length - 1).toBe(100);
});

test('many requirements together select what each of them does', () => {
  const random = new Random(17);
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)]!;
  const values = ['1', '2', '3', 'x'];
  const requirement = (): string => {
    const key = `k${random.below(30)}`;
    return pick([
      `${key}=${pick(values)}`,
      `${key}!=${pick(values)}`,
      `${key} in (${pick(values)},${pick(values)})`,
      `${key} notin (${pick(values)})`,
      key,
      `!${key}`,
      `${key}>1`,
      `${key}<3`,
    ]);
  };
  let matched = 0;
  for (let round = 0; round < 20_000; round++) {
    const requirements = Array.from({ length: 1 + random.below(random.chance(0.2) ? 30 : 6) }, requirement);
    const some = Object.fromEntries(Array.from({ length: random.below(30) }, () => [`k${random.below(30)}`, pick(values)]));
    const wanted = requirements.every((one) => parseLabelSelector(one).matches(some));
    if (wanted) matched++;
    expect(parseLabelSelector(requirements.join(',')).matches(some), `${requirements.join(',')} ${JSON.stringify(some)}`).toBe(wanted);
  }
  expect(matched).toBeGreaterThan(100);
});
