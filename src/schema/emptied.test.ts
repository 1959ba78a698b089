import { expect, test } from 'vitest';
import { schemaOfKind } from '../apis/facts/schemas.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { decode } from './decode.ts';
import { withEmptied, withSentEmpties } from './emptied.ts';
import { normalize } from './normalize.ts';

const schema = schemaOfKind('', 'v1', 'Pod');
const read = (spec: JsonObject): JsonObject => decode(schema, { kind: 'Pod', apiVersion: 'v1', spec });
const specOf = (object: JsonObject | undefined): unknown => object?.['spec'];

test('what was sent empty can be told again, and is not stored', () => {
  const sent = read({ containers: [{ name: 'a', env: [], args: ['x'] }], nodeSelector: {} });
  const stored = normalize(schema, sent);
  expect(specOf(stored)).toEqual({ containers: [{ name: 'a', args: ['x'], resources: {} }] });
  expect(specOf(withEmptied(stored, sent))).toEqual({ containers: [{ name: 'a', args: ['x'], resources: {}, env: [] }], nodeSelector: {} });
});

test('what has got a value since keeps it', () => {
  const sent = read({ containers: [{ name: 'a' }], tolerations: [], volumes: [] });
  (sent['spec'] as JsonObject)['tolerations'] = [{ key: 'x' }];
  expect(specOf(withEmptied(normalize(schema, sent), sent))).toMatchObject({ tolerations: [{ key: 'x' }], volumes: [] });
});

test('nothing was empty', () => {
  const sent = read({ containers: [{ name: 'a' }] });
  expect(withEmptied(normalize(schema, sent), sent)).toBeUndefined();
});

test('what is written as null where there is none can be told again alone', () => {
  const role = (fields: JsonObject): JsonObject => decode(schemaOfKind('rbac.authorization.k8s.io', 'v1', 'ClusterRole'), fields);
  const sent = role({ metadata: { labels: {} }, rules: [] });
  expect(sent).toMatchObject({ metadata: {}, rules: null });
  expect(withSentEmpties(sent)).toMatchObject({ metadata: {}, rules: [] });
  const without = role({});
  expect(withSentEmpties(without)).toBe(without);
});
