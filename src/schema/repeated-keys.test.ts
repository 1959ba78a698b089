import { expect, test } from 'vitest';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import type { DuplicateKeys } from '../encoding/json-parser.ts';
import { parseJson } from '../encoding/json.ts';
import { mergeRepeated } from './repeated-keys.ts';

function merged(text: string): unknown {
  const duplicates: DuplicateKeys = new Map();
  const value = parseJson(text, duplicates);
  mergeRepeated(schemaOfKind('', 'v1', 'Pod'), value, duplicates);
  return value;
}

test.each([
  ['structs are merged', '{"spec":{"nodeName":"n"},"spec":{"hostname":"h"}}', { spec: { nodeName: 'n', hostname: 'h' } }],
  ['so are maps', '{"metadata":{"labels":{"a":"1","b":"1"},"labels":{"b":"2"}}}', { metadata: { labels: { a: '1', b: '2' } } }],
  [
    'items are read into those in their places',
    '{"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}],"containers":[{"name":"c"}]}}',
    { spec: { containers: [{ name: 'c', image: 'i' }] } },
  ],
  ['an empty list is empty', '{"metadata":{"finalizers":["a"],"finalizers":[]}}', { metadata: { finalizers: [] } }],
  ['null leaves what is no pointer', '{"metadata":{"name":"a"},"metadata":null}', { metadata: { name: 'a' } }],
  ['null makes nothing of a pointer', '{"spec":{"hostUsers":true,"hostUsers":null}}', { spec: { hostUsers: null } }],
  [
    'what null has cleared is not merged again',
    '{"spec":{"securityContext":{"runAsUser":1},"securityContext":null,"securityContext":{"runAsGroup":2}}}',
    { spec: { securityContext: { runAsGroup: 2 } } },
  ],
  [
    'repeats within repeats',
    '{"metadata":{"labels":{"a":"1"},"labels":{"b":"1"}},"metadata":{"name":"n"}}',
    { metadata: { labels: { a: '1', b: '1' }, name: 'n' } },
  ],
  ['scalars are replaced', '{"spec":{"priority":1,"priority":2,"priority":3}}', { spec: { priority: 3 } }],
])('%s', (_what, text, expected) => expect(merged(text)).toEqual(expected));

test('a body that is all repeats is read as its last ones, in no time', () => {
  const times = 10_000;
  const labels = Array.from({ length: times }, (_, index) => `"labels":{"a${index}":""}`).join();
  expect(merged(`{"metadata":{${labels}}}`)).toEqual({ metadata: { labels: { [`a${times - 1}`]: '' } } });
});
