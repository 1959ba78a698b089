import { expect, test } from 'vitest';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import { parseJson } from '../encoding/json.ts';
import type { DuplicateKeys } from '../encoding/json-parser.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { convert, decode, decodeInSlices } from './decode.ts';
import { EmptyPaths, NOTHING_EMPTY } from './empty-paths.ts';
import { normalize } from './normalize.ts';

const schema = schemaOfKind('', 'v1', 'Pod');

function read(spec: JsonObject): { sent: JsonObject; sentEmpty: EmptyPaths } {
  const sentEmpty = new EmptyPaths();
  return { sent: decode(schema, { kind: 'Pod', apiVersion: 'v1', spec }, undefined, sentEmpty), sentEmpty };
}

const specOf = (object: JsonObject): unknown => object['spec'];

test('what was sent empty can be told again, and is not stored', () => {
  const { sent, sentEmpty } = read({ containers: [{ name: 'a', env: [], args: ['x'] }], nodeSelector: {} });
  const stored = normalize(schema, sent);
  expect(specOf(stored)).toEqual({ containers: [{ name: 'a', args: ['x'], resources: {} }] });
  expect(specOf(sentEmpty.restoredIn(stored))).toEqual({ containers: [{ name: 'a', args: ['x'], resources: {}, env: [] }], nodeSelector: {} });
  expect(specOf(stored)).toEqual({ containers: [{ name: 'a', args: ['x'], resources: {} }] });
});

test('it is asked for by field, and below a path', () => {
  const { sentEmpty } = read({ containers: [{ name: 'a' }, { name: 'b', ports: [], resources: { limits: {} } }] });
  const second = sentEmpty.at('spec', 'containers', 1);
  expect([second.has('ports'), second.has('env'), second.at('resources').has('limits')]).toEqual([true, false, true]);
  expect(sentEmpty.at('spec', 'containers', 0)).toBe(NOTHING_EMPTY);
});

test('what has got a value since keeps it', () => {
  const { sent, sentEmpty } = read({ containers: [{ name: 'a' }], tolerations: [], volumes: [] });
  (sent['spec'] as JsonObject)['tolerations'] = [{ key: 'x' }];
  expect(specOf(sentEmpty.restoredIn(normalize(schema, sent)))).toMatchObject({ tolerations: [{ key: 'x' }], volumes: [] });
});

test('nothing was empty', () => {
  const { sent, sentEmpty } = read({ containers: [{ name: 'a' }] });
  expect(sentEmpty.isNone).toBe(true);
  expect(sentEmpty.restoredIn(sent)).toBe(sent);
});

test('what stood in a field that was replaced is left out', () => {
  const { sent, sentEmpty } = read({ containers: [{ name: 'a', env: [] }] });
  expect(sentEmpty.without('spec').isNone).toBe(true);
  expect(sentEmpty.only('metadata', 'status').isNone).toBe(true);
  expect(sentEmpty.only('spec').restoredIn(sent)).toEqual(sentEmpty.restoredIn(sent));
  expect(sentEmpty.without('status').restoredIn(sent)).toEqual(sentEmpty.restoredIn(sent));
});

test('what is written as null where there is none can be told again alone', () => {
  const sentEmpty = new EmptyPaths();
  const sent = decode(schemaOfKind('rbac.authorization.k8s.io', 'v1', 'ClusterRole'), { metadata: { labels: {} }, rules: [] }, undefined, sentEmpty);
  expect(sent).toMatchObject({ metadata: {}, rules: null });
  expect(sentEmpty.restoredNullsIn(sent)).toEqual({ ...sent, rules: [] });
  expect(NOTHING_EMPTY.restoredNullsIn(sent)).toBe(sent);
});

test('a key that is sent twice counts as it was sent last', () => {
  const duplicates: DuplicateKeys = new Map();
  const body = parseJson(Buffer.from('{"spec":{"nodeSelector":{},"volumes":[],"volumes":[{"name":"x"}],"tolerations":[{}],"tolerations":[]}}'), duplicates);
  const sentEmpty = new EmptyPaths();
  decode(schema, body, { errors: [], duplicates }, sentEmpty);
  expect(['nodeSelector', 'volumes', 'tolerations'].filter((field) => sentEmpty.at('spec').has(field))).toEqual(['nodeSelector', 'tolerations']);
});

test('of a long list that is decoded in slices, and of a merged object, it is the same', async () => {
  const containers = Array.from({ length: 50_000 }, (_, index) => ({ name: `c${index}`, ...(index === 40_000 && { env: [] }) }));
  for (const decoded of [decodeInSlices, convert] as const) {
    const sentEmpty = new EmptyPaths();
    await decoded(schema, { spec: { containers } }, undefined, sentEmpty);
    expect(sentEmpty.at('spec', 'containers', 40_000).has('env')).toBe(true);
  }
});
