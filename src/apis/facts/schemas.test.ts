import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CURRENT_FACTS } from '../../../scripts/facts/current.ts';
import type { FieldSchema, ListSchema, ObjectSchema, TypeSchema } from '../../schema/schema.ts';
import { hasKind, schemaOf, schemaOfKind } from './schemas.ts';

const field = (schema: ObjectSchema, name: string): FieldSchema => schema.fields.get(name)!;

describe('built-in schemas', () => {
  const podSpec = schemaOf('io.k8s.api.core.v1.PodSpec');

  test('keep the order in which upstream encodes', () => {
    expect([...schemaOfKind('', 'v1', 'Pod').fields.keys()]).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
    expect([...podSpec.fields.keys()].slice(0, 4)).toEqual(['volumes', 'initContainers', 'containers', 'ephemeralContainers']);
  });

  test('tell list keys and patch strategies', () => {
    expect(field(podSpec, 'containers')).toMatchObject({
      required: true,
      whenEmpty: 'null',
      protoNumber: 2,
      type: { type: 'list', listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name' },
    });
    expect(field(schemaOf('io.k8s.api.apps.v1.DeploymentSpec'), 'strategy').patchStrategy).toBe('retainKeys');
  });

  test.each([
    ['io.k8s.api.apps.v1.DeploymentSpec', 'replicas', 'omit', true],
    ['io.k8s.api.apps.v1.DeploymentSpec', 'minReadySeconds', 'omit', false],
    ['io.k8s.api.apps.v1.DeploymentSpec', 'strategy', 'zero', false],
    ['io.k8s.api.apps.v1.DeploymentSpec', 'selector', 'null', true],
    ['io.k8s.api.core.v1.Container', 'resources', 'zero', false],
    ['io.k8s.api.core.v1.Container', 'name', 'zero', false],
    ['io.k8s.api.core.v1.VolumeSource', 'emptyDir', 'omit', true],
    ['io.k8s.api.rbac.v1.ClusterRole', 'rules', 'null', false],
    ['io.k8s.api.core.v1.Event', 'firstTimestamp', 'null', false],
    ['io.k8s.api.core.v1.ServicePort', 'targetPort', 'zero', false],
    ['io.k8s.api.apps.v1.ControllerRevision', 'data', 'null', true],
    ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'creationTimestamp', 'omit', false],
  ])('%s.%s is written as %s when empty', (name, fieldName, whenEmpty, pointer) => {
    expect(field(schemaOf(name), fieldName)).toMatchObject({ whenEmpty, pointer });
  });

  test('types may hold themselves', () => {
    const props = schemaOf('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    expect(field(props, 'not').type).toBe(props);
    expect(field(props, 'additionalProperties').type).toMatchObject({ type: 'any', orObject: { or: 'boolean' } });
    expect((field(props, 'allOf').type as ListSchema).items).toBe(props);
  });

  test('inlined structs are flattened for JSON and kept for protobuf', () => {
    const volume = schemaOf('io.k8s.api.core.v1.Volume');
    expect(field(volume, 'emptyDir').protoNumber).toBeUndefined();
    expect(volume.inlined).toEqual([{ protoNumber: 2, schema: schemaOf('io.k8s.api.core.v1.VolumeSource') }]);
  });

  test('kinds that every group-version knows, unserved kinds, and unknown ones', () => {
    expect(schemaOfKind('apps', 'v1', 'DeleteOptions')).toBe(schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'));
    expect(schemaOfKind('admission.k8s.io', 'v1', 'AdmissionReview').fields.has('request')).toBe(true);
    expect(schemaOfKind('meta.k8s.io', 'v1', 'PartialObjectMetadata').fields.has('metadata')).toBe(true);
    expect(hasKind('apps', 'v1', 'Pod')).toBe(false);
    expect(hasKind('', 'v1', '__proto__')).toBe(false);
    expect(() => schemaOf('constructor')).toThrow('no built-in type');
  });
});

/** Rebuilds OpenAPI's schemas from the tables: that nothing but descriptions was lost. */
describe('the tables hold all that OpenAPI says', () => {
  type Schema = Record<string, unknown>;

  const NUMBERS: Record<string, Schema> = {
    int32: { type: 'integer', format: 'int32' },
    int64: { type: 'integer', format: 'int64' },
    double: { type: 'number', format: 'double' },
  };
  const ZEROS: Record<string, unknown> = { string: '', boolean: false, int32: 0, int64: 0, object: {} };

  /** `isValue`: neither a pointer nor left out when empty, so that OpenAPI shows the zero as default. */
  function rebuildType(type: TypeSchema, isValue: boolean): Schema {
    const zero = isValue && Object.hasOwn(ZEROS, type.type) ? { default: ZEROS[type.type] } : {};
    if (type.type === 'list')
      return {
        type: 'array',
        items: rebuildType(type.items, true),
        ...(type.listType && { 'x-kubernetes-list-type': type.listType }),
        ...(type.listMapKeys && { 'x-kubernetes-list-map-keys': type.listMapKeys }),
        ...(type.patchMergeKey && { 'x-kubernetes-patch-merge-key': type.patchMergeKey }),
      };
    if (type.type === 'map')
      return { type: 'object', additionalProperties: rebuildType(type.values, true), ...(type.mapType && { 'x-kubernetes-map-type': type.mapType }) };
    if (type.type === 'object' || type.name !== undefined) return { $ref: `#/components/schemas/${type.name}`, ...zero };
    const listType = type.listType && { 'x-kubernetes-list-type': type.listType };
    const basis = NUMBERS[type.type] ?? (type.type === 'bytes' ? { type: 'string', format: 'byte' } : { type: type.type });
    return { ...basis, ...zero, ...listType, ...(type.enum && { enum: type.enum }) };
  }

  function rebuildField({ type, whenEmpty, pointer, patchStrategy, mapType, default: declared }: FieldSchema): Schema {
    const strategy = patchStrategy ?? (type.type === 'list' || type.type === 'map' ? type.patchStrategy : undefined);
    return {
      ...rebuildType(type, whenEmpty === 'zero' && !pointer),
      ...(declared !== undefined && { default: declared }),
      ...(strategy && { 'x-kubernetes-patch-strategy': strategy }),
      ...(mapType && { 'x-kubernetes-map-type': mapType }),
    };
  }

  function rebuild(schema: ObjectSchema): Schema {
    const fields = [...schema.fields.values()];
    const required = fields.filter((candidate) => candidate.required).map(({ name }) => name);
    return {
      type: 'object',
      ...(schema.fields.size > 0 && { properties: Object.fromEntries(fields.map((candidate) => [candidate.name, rebuildField(candidate)])) }),
      ...(required.length > 0 && { required }),
      ...(schema.mapType && { 'x-kubernetes-map-type': schema.mapType }),
      ...(schema.kinds.length > 0 && { 'x-kubernetes-group-version-kind': schema.kinds }),
      ...(schema.unions && { 'x-kubernetes-unions': schema.unions.map(({ fields: by, ...rest }) => ({ ...rest, 'fields-to-discriminateBy': by })) }),
    };
  }

  /** A reference with siblings stands in allOf. */
  const unwrap = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(unwrap);
    if (typeof value !== 'object' || value === null) return value;
    const { allOf, ...rest } = value as { allOf?: unknown };
    const flat = Array.isArray(allOf) ? { ...(allOf[0] as Schema), ...rest } : value;
    return Object.fromEntries(Object.entries(flat).map(([key, inner]) => [key, unwrap(inner)]));
  };

  const PER_DOCUMENT = /\.(DeleteOptions|WatchEvent)$/;
  const folders = ['openapi-v3', 'optional/openapi-v3'].map((folder) => join(CURRENT_FACTS, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.includes('__v'))
      .map((file) => join(folder, file)),
  );
  test.each(files)('%s', (file) => {
    const { schemas } = (JSON.parse(readFileSync(file, 'utf8')) as { components: { schemas?: Record<string, Schema> } }).components;
    for (const [name, schema] of Object.entries(schemas ?? {})) {
      if (schema['properties'] === undefined && schema['x-kubernetes-group-version-kind'] === undefined && schema['type'] !== 'object') continue;
      if (/\.(Patch|FieldsV1|RawExtension)$/.test(name)) continue;
      const expected = unwrap(schema) as Schema;
      const actual = rebuild(schemaOf(name));
      if (PER_DOCUMENT.test(name)) actual['x-kubernetes-group-version-kind'] = expected['x-kubernetes-group-version-kind'];
      expect({ name, ...actual }).toEqual({ name, ...expected });
    }
  });
});
