import { describe, expect, it } from 'vitest';
import { TooManySteps, unifiedDiff } from './unified-diff.ts';

const STEPS = 1_000_000;
const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe('a unified diff', () => {
  it('is empty where nothing differs', () => {
    expect(unifiedDiff('a\nb', 'a\nb', STEPS)).toBe('');
  });

  it('shows three lines around a change', () => {
    const before = numbers(20);
    const after = before.with(9, 'other');
    expect(unifiedDiff(before.join('\n'), after.join('\n'), STEPS)).toBe(
      '@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+other\n line 11\n line 12\n line 13\n',
    );
  });

  it('joins hunks that meet and parts those that do not', () => {
    const before = numbers(30);
    expect(unifiedDiff(before.join('\n'), before.with(5, 'a').with(10, 'b').join('\n'), STEPS).match(/^@@/gm)).toHaveLength(1);
    expect(unifiedDiff(before.join('\n'), before.with(5, 'a').with(25, 'b').join('\n'), STEPS).match(/^@@/gm)).toHaveLength(2);
  });

  it('counts what is added and removed at the ends', () => {
    expect(unifiedDiff('b', 'a\nb', STEPS)).toBe('@@ -1 +1,2 @@\n+a\n b\n');
    expect(unifiedDiff('a\nb', 'a', STEPS)).toBe('@@ -1,2 +1 @@\n a\n-b\n');
  });
});

describe('the steps of a diff', () => {
  const common = (own: string, count: number): string =>
    numbers(count)
      .flatMap((line) => [`${own} ${line}`, line])
      .join('\n');

  it('are counted where every other line differs', () => {
    expect(unifiedDiff(common('a', 100), common('b', 100), STEPS).match(/^-/gm)).toHaveLength(100);
    expect(() => unifiedDiff(common('a', 5_000), common('b', 5_000), STEPS)).toThrow(TooManySteps);
  });

  it('are counted where lines repeat', () => {
    const repeated = numbers(300).join('\n').concat('\n').repeat(100);
    expect(() => unifiedDiff(repeated, `x\n${repeated}`, STEPS)).toThrow(TooManySteps);
  });
});
