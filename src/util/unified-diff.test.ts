import { describe, expect, it } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe('a unified diff', () => {
  it('is empty where nothing differs', () => {
    expect(unifiedDiff('a\nb', 'a\nb')).toBe('');
  });

  it('shows three lines around a change', () => {
    const before = numbers(20);
    const after = before.with(9, 'other');
    expect(unifiedDiff(before.join('\n'), after.join('\n'))).toBe(
      '@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+other\n line 11\n line 12\n line 13\n',
    );
  });

  it('joins hunks that meet and parts those that do not', () => {
    const before = numbers(30);
    expect(unifiedDiff(before.join('\n'), before.with(5, 'a').with(10, 'b').join('\n')).match(/^@@/gm)).toHaveLength(1);
    expect(unifiedDiff(before.join('\n'), before.with(5, 'a').with(25, 'b').join('\n')).match(/^@@/gm)).toHaveLength(2);
  });

  it('counts what is added and removed at the ends', () => {
    expect(unifiedDiff('b', 'a\nb')).toBe('@@ -1 +1,2 @@\n+a\n b\n');
    expect(unifiedDiff('a\nb', 'a')).toBe('@@ -1,2 +1 @@\n a\n-b\n');
  });
});
