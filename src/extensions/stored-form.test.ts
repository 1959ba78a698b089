import { expect, test } from 'vitest';
import type { ResourceDefinition } from '../registry/definition.ts';
import { encodeCbor } from '../schema/cbor-encode.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { storedForm } from './stored-form.ts';

const schema = { type: 'object', name: '', fields: new Map(), kinds: [], custom: { schema: {}, decode: (value: Json) => value as JsonObject } };
const definition = { group: 'c.example', served: [{ version: 'v1', schema }] } as unknown as ResourceDefinition;

test('what another server has stored in CBOR is read', () => {
  const stored = encodeCbor({ kind: 'Thing', apiVersion: 'c.example/v1', metadata: { name: 't' }, spec: { n: 5, f: 1.5 } }, undefined);
  const read = storedForm(definition, { isUnchanged: true }).toClientBytes(stored, 7);
  expect(read.toString()).toBe('{"kind":"Thing","apiVersion":"c.example/v1","metadata":{"name":"t","resourceVersion":"7"},"spec":{"f":1.5,"n":5}}');
});
