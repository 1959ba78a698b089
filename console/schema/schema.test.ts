import { describe, expect, test } from 'vitest';
import { exampleOf } from './example.ts';
import { SchemaDocument } from './schema.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const CONTAINER = 'io.k8s.api.core.v1.Container';
const document = new SchemaDocument({
  components: {
    schemas: {
      Boat: {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'harbour.example', version: 'v1', kind: 'Boat' }],
        properties: {
          metadata: { allOf: [ref('Meta')] },
          spec: {
            type: 'object',
            required: ['length', 'rig', 'crew'],
            properties: {
              length: { type: 'integer', description: 'Length over all.', minimum: 3 },
              rig: { type: 'string', enum: ['sloop', 'ketch'] },
              crew: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
              galley: { allOf: [ref(CONTAINER)], description: 'Where the cook is.' },
              flags: { type: 'object', additionalProperties: { type: 'string' } },
              optional: { type: 'string' },
            },
          },
          status: { type: 'object', required: ['x'], properties: { x: { type: 'string' } } },
        },
      },
      Meta: { type: 'object', properties: { name: { type: 'string', description: 'A name.' } } },
      [CONTAINER]: { type: 'object', required: ['name'], properties: { name: { type: 'string', description: 'Of a container.' }, image: { type: 'string' } } },
    },
  },
});
const boat = {
  group: 'harbour.example',
  version: 'v1',
  kind: 'Boat',
  plural: 'boats',
  singular: 'boat',
  isNamespaced: true,
  verbs: [],
  shortNames: [],
};

test('an example has what is required, and no more', () => {
  expect(exampleOf(document, boat, 'port')).toEqual({
    apiVersion: 'harbour.example/v1',
    kind: 'Boat',
    metadata: { name: 'example', namespace: 'port' },
    spec: { length: 3, rig: 'sloop', crew: [{ name: 'example' }] },
  });
});

test('a kind without a schema has an example too', () => {
  expect(exampleOf(document, { ...boat, kind: 'Ship', isNamespaced: false }, '')).toEqual({
    apiVersion: 'harbour.example/v1',
    kind: 'Ship',
    metadata: { name: 'example' },
  });
});

describe('what is told of a field', () => {
  const root = document.ofKind('harbour.example', 'v1', 'Boat')!;
  test.each([
    [['spec', 'length'], { type: 'integer', description: 'Length over all.', isRequired: true }],
    [['spec', 'rig'], { values: ['sloop', 'ketch'] }],
    [['spec', 'crew', 0, 'name'], { type: 'string', isRequired: true }],
    [['spec', 'crew'], { type: 'list of object' }],
    [['spec', 'galley'], { description: 'Where the cook is.', isRequired: false }],
    [['spec', 'galley', 'name'], { description: 'Of a container.' }],
    [['spec', 'flags', 'any'], { type: 'string' }],
    [['spec', 'flags'], { type: 'map of string' }],
    [['metadata', 'name'], { description: 'A name.' }],
  ])('%j', (path, expected) => {
    expect(document.docsAt(root, path)).toMatchObject(expected);
  });
  test('nothing where there is no such field', () => {
    expect(document.docsAt(root, ['spec', 'unknown'])).toBeUndefined();
  });
});
