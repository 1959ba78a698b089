import { expect, test } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const PREFIX = '/registry/configmaps/';
const token = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('comes back with its key and revision', () => {
  expect(decodeContinue(encodeContinue(`${PREFIX}default/a`, PREFIX, 7), PREFIX)).toEqual({ revision: 7, startKey: `${PREFIX}default/a\0` });
});

test.each([
  [{ v: 'meta.k8s.io/v1', rv: 1, start: '../secrets/a' }, ': ../secrets/a'],
  [{ v: 'meta.k8s.io/v1', rv: 1, start: 'a/../../secrets' }, ': a/../../secrets'],
  [{ v: 'meta.k8s.io/v1', rv: 1, start: '' }, 'encoded start key empty'],
  [{ v: 'meta.k8s.io/v1', rv: 0, start: 'a' }, 'incorrect encoded start resourceVersion'],
  [{ v: 'meta.k8s.io/v1', rv: 1.5, start: 'a' }, 'incorrect encoded start resourceVersion'],
  [{ v: 'meta.k8s.io/v1', rv: 1e300, start: 'a' }, 'incorrect encoded start resourceVersion'],
  [{ v: 'v9', rv: 1, start: 'a' }, 'does not recognize this encoded version v9'],
])('refuses %j', (value, why) => {
  expect(() => decodeContinue(token(value), PREFIX)).toThrow(why);
});

test('is written as upstream writes it', () => {
  expect(JSON.parse(Buffer.from(encodeContinue(`${PREFIX}default/a`, PREFIX, 7), 'base64url').toString())).toEqual({
    v: 'meta.k8s.io/v1',
    rv: 7,
    start: '/default/a\0',
  });
});

test.each([
  ['x', 0],
  ['abcde', 4],
  ['ab!d', 2],
])('%j is no base64', (text, at) => {
  expect(() => decodeContinue(text, PREFIX)).toThrow(`illegal base64 data at input byte ${at}`);
});
