import { describe, expect, test } from 'vitest';
import { parseShardSelector } from './shard-selector.ts';

const LOWER = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const UPPER = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";
const object = (uid: string, namespace = 'default') => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { uid, namespace } });

test('every object is in one of two halves, and in both together', () => {
  const [lower, upper, both] = [LOWER, UPPER, `${LOWER} || (${UPPER})`].map(parseShardSelector);
  for (let i = 0; i < 1000; i++) {
    const one = object(`uid-${i}`);
    expect([lower!.matches(one), upper!.matches(one)].filter(Boolean)).toHaveLength(1);
    expect(both!.matches(one)).toBe(true);
  }
  expect(String(both)).toBe(`${LOWER} || ${UPPER}`);
});

test('objects of a namespace stay together', () => {
  const selector = parseShardSelector(LOWER.replace('uid', 'namespace'));
  expect(new Set(['a', 'b', 'c'].map((uid) => selector.matches(object(uid)))).size).toBe(1);
});

describe('what is refused', () => {
  test.each([
    [' ', 'empty shard selector is not allowed; omit the parameter for unfiltered lists'],
    [
      "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
      'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
    ],
    ["shardRange(object.metadata.uid, '0x0')", 'shardRange() requires exactly 3 arguments, got 2'],
    [
      "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
      'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
    ],
    ["shardRange(object.metadata.uid, '0000000000000000', '0x8000000000000000')", `hexStart must have '0x' prefix, got "0000000000000000"`],
    ["shardRange(object.metadata.uid, '0x000000000000000G', '0x8000000000000000')", 'hexStart: invalid hex character "G" in "0x000000000000000G"'],
    [
      "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')",
      'shard range start 0x8000000000000000 must be less than end 0x8000000000000000',
    ],
    [
      "shardRange(object.metadata.uid, '0x8000000000000000', '0x20000000000000000')",
      `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x20000000000000000"`,
    ],
    [`${LOWER} || ${UPPER.replace('uid', 'namespace')}`, 'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"'],
    ["other('1')", 'unsupported function "other"; only shardRange() and || are allowed'],
    [`${LOWER} ||`, 'CEL parse error'],
    [`${LOWER} && ${UPPER}`, 'CEL parse error'],
    [`(${LOWER}`, 'CEL parse error'],
    [`${LOWER})`, 'CEL parse error'],
  ])('%s', (text, message) => {
    expect(() => parseShardSelector(text)).toThrow(message);
  });

  test('more ranges than any client needs', () => {
    expect(() => parseShardSelector(Array.from({ length: 1001 }, () => LOWER).join('||'))).toThrow('at most 1000 ranges');
  });
});
