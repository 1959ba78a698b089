import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { BudgetExceeded } from '../util/step-budget.ts';
import { Random } from '../util/test-random.ts';
import { compileRegexp } from './regexp.ts';

/*
 * The same patterns and texts to our engine and to the re2js package, a port of Go's. It does not replace ours: it counts no steps, so that neither a match nor a
 * compilation can be bounded (a pattern of 272 characters searched 100 kB for 10.6 s), and a match of a name of a resource takes it 0.5 to 2.9 µs, ours 0.1 to 0.4.
 */

const PATTERNS = 4000;
const TEXTS_EACH = 6;

const ATOMS = [
  ...['a', 'b', 'c', 'K', 'é', '水', '😀', '.', '-', ' '],
  ...['[a-c]', '[^ab]', '[[:alpha:]_]', '[[:^digit:]]', '[\\d\\-x]', '[^\\s\\pL]', '[]a]', '[a\\]]', '[^\\n]', '[é-水]'],
  ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\pL', '\\PL', '\\p{Greek}', '\\p{^Lu}', '\\x41', '\\x{1F600}', '\\102', '\\n', '\\.', '\\Qa.b\\E'],
  ...['^', '$', '\\A', '\\z', '\\b', '\\B', '(?i)', '(?s)', '(?m)', '(?U)', '(?i-s)', '(?:)', '()'],
];
const REPEATS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0}', '{1,3}', '{2,}', '{,2}', '{1,2}?', '{a}'];
/** What makes a pattern wrong, or another one. */
const ODD = [
  ...['(', ')', '[', ']', '\\', '{', '}', '|', '**', '*?*', '+{2}', '{2}', '{2}{3}', 'a{1001}', 'a{2,1}', 'a{1000}'],
  ...['(?', '(?i', '(?)', '(?-)', '(?i-)', '(?i-i)', '(?P', '(?P<', '(?P<x', '(?P<n>', '(?P<n>b)', '(?<n>a)', '(?P<é>a)', '(?<=a)', '(?=a)', '(?#a)', '(?P=n)'],
  ...['\\1', '\\8', '\\C', '\\Z', '\\é', '\\pX', '\\p{Foo}', '\\p{', '\\x', '\\x{', '\\x{110000}', '\\xg', '\\Q', '\\Q*', '\\E', '\\_'],
  ...['[z-a]', '[[:x:]]', '[[:alpha:]', '[a', '[^', '[\\', '[a-\\d]', '[\\d-a]', '[a-', '[\\8]', '[[.a.]]', '[--a]', '[a-b-c]', '[[:word:]-]'],
];

function somePattern(random: Random, depth = 0): string {
  let pattern = '';
  for (let count = 1 + random.below(4); count > 0; count--) {
    const isGroup = depth < 3 && random.chance(0.25);
    const opening = random.pick(['(', '(?:', '(?i:', '(?s:', '(?U:', '(?m:']);
    pattern += isGroup ? `${opening}${somePattern(random, depth + 1)})` : random.pick(ATOMS);
    if (random.chance(0.3)) pattern += random.pick(REPEATS);
    if (random.chance(0.12)) pattern += '|';
  }
  return pattern;
}

const UNITS = ['a', 'b', 'c', 'A', 'k', 'K', '\u212a', 'é', 'É', '水', '😀', 'α', '1', '_', '-', ' ', '\n', '.', 'ſ'];
const someText = (random: Random): string => Array.from({ length: random.below(12) }, () => random.pick(UNITS)).join('');

/** What all matches are, one behind the other, or why the pattern is refused. */
function theirs(pattern: string): { error: string } | { matches: (text: string) => string[]; test: (text: string) => boolean } {
  try {
    const compiled = RE2JS.compile(pattern);
    return { matches: (text) => theirMatches(compiled, text), test: (text) => compiled.test(text) };
  } catch (error) {
    const { message } = error as Error;
    // Go quotes the nothing that is behind the backslash.
    return { error: message.endsWith('end of expression') ? `${message}: \`\`` : message };
  }
}

/** By Go's rule, which is not that of Java and re2js' matcher: an empty match right behind another does not count. */
function theirMatches(compiled: RE2JS, text: string): string[] {
  const matcher = compiled.matcher(text);
  const found: string[] = [];
  let previousEnd = -1;
  while (matcher.find()) {
    if (matcher.start() !== matcher.end() || matcher.start() !== previousEnd) found.push(matcher.group() ?? '');
    previousEnd = matcher.end();
  }
  return found;
}

test(`${PATTERNS} patterns find the same in ${TEXTS_EACH} texts each, or are refused with the same words`, { timeout: 180_000 }, () => {
  const random = new Random(2);
  const seen = { refused: 0, matched: 0, unmatched: 0, unbounded: 0 };
  for (let round = 0; round < PATTERNS; round++) {
    const odd = random.chance(0.2) ? random.pick(ODD) + (random.chance(0.8) ? somePattern(random) : '') : '';
    const pattern = somePattern(random) + odd;
    const [a, b] = [compileRegexp(pattern), theirs(pattern)];
    if ('error' in a || 'error' in b) {
      expect({ pattern, error: 'error' in a ? a.error : undefined }).toEqual({ pattern, error: 'error' in b ? b.error : undefined });
      seen.refused++;
      continue;
    }
    for (let count = 0; count < TEXTS_EACH; count++) {
      const text = someText(random);
      try {
        const matches = a.findAll(text, -1);
        expect({ pattern, text, matches }).toEqual({ pattern, text, matches: b.matches(text) });
        expect({ pattern, text, isMatch: a.test(text), first: a.find(text) }).toEqual({ pattern, text, isMatch: b.test(text), first: matches[0] });
        seen[matches.length > 0 ? 'matched' : 'unmatched']++;
      } catch (error) {
        if (!(error instanceof BudgetExceeded)) throw error;
        seen.unbounded++;
      }
    }
  }
  expect(seen.unbounded).toBe(0);
  expect(seen.refused).toBeGreaterThan(PATTERNS / 50);
  expect(Math.min(seen.matched, seen.unmatched)).toBeGreaterThan(PATTERNS);
});
