import { expect, test } from 'vitest';
import { compareSemanticVersions, isSemanticVersion, parseSemanticVersion } from './semantic-version.ts';

test.each(['', '1', '1.2', 'v1.2.3', '1.2.3.4', '01.2.3', '1.2.3-', '1.2.3-01', '1.2.3-a..b', '1.2.3+', '1.2.3+a..b'])('%j is none', (text) =>
  expect(parseSemanticVersion(text)).toBeUndefined(),
);

test('are ordered as the specification has it', () => {
  const ordered = ['0.0.0', '1.0.0-1', '1.0.0-2', '1.0.0-10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-beta', '1.0.0', '1.2.3', '1.10.0'];
  const versions = ordered.map((text) => parseSemanticVersion(text)!);
  for (const [i, a] of versions.entries()) for (const [j, b] of versions.entries()) expect(Math.sign(compareSemanticVersions(a, b))).toBe(Math.sign(i - j));
  expect(compareSemanticVersions(parseSemanticVersion('1.0.0+a')!, parseSemanticVersion('1.0.0+b')!)).toBe(0);
});

test('numbers have 64 bits, as upstream has them', () => {
  expect(parseSemanticVersion('1.2.18446744073709551615')).toBeDefined();
  for (const text of ['1.2.18446744073709551616', `1.2.${'9'.repeat(100_000)}`, '1.2.3-18446744073709551616']) {
    expect(parseSemanticVersion(text)).toBeUndefined();
    expect(isSemanticVersion(text)).toBe(true);
  }
});
