import type { FieldSchema, ObjectSchema, ScalarType, TypeSchema } from './schema.ts';

/** Small hand-made types in the shape of the real ones, for the tests of this folder, and what they are made with. */

export const scalar = (type: ScalarType): TypeSchema => ({ type });
export const field = (name: string, type: TypeSchema, more: Partial<FieldSchema> = {}): FieldSchema => ({
  name,
  type,
  required: false,
  whenEmpty: 'omit',
  pointer: false,
  ...more,
});
export const struct = (name: string, fields: FieldSchema[], more: Partial<ObjectSchema> = {}): ObjectSchema => ({
  type: 'object',
  name,
  fields: new Map(fields.map((f) => [f.name, f])),
  kinds: [],
  ...more,
});
const list = (items: TypeSchema, mergeKey?: string): TypeSchema => ({
  type: 'list',
  items,
  ...(mergeKey !== undefined && { patchStrategy: 'merge', patchMergeKey: mergeKey }),
});
const map = (values: TypeSchema): TypeSchema => ({ type: 'map', values });

const objectMeta = struct('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', [
  field('name', scalar('string')),
  field('generation', scalar('int64')),
  field('creationTimestamp', scalar('time')),
  field('labels', map(scalar('string'))),
  field('finalizers', { type: 'list', items: scalar('string'), patchStrategy: 'merge' }),
]);

const emptyDir = struct('io.k8s.api.core.v1.EmptyDirVolumeSource', [field('medium', scalar('string'))]);
const hostPath = struct('io.k8s.api.core.v1.HostPathVolumeSource', [field('path', scalar('string'), { whenEmpty: 'zero' })]);
const volumeSource = struct('io.k8s.api.core.v1.VolumeSource', [
  field('emptyDir', emptyDir, { pointer: true }),
  field('hostPath', hostPath, { pointer: true }),
]);
const volume = struct('io.k8s.api.core.v1.Volume', [field('name', scalar('string'), { whenEmpty: 'zero' }), ...volumeSource.fields.values()], {
  inlined: [{ protoNumber: 2, schema: volumeSource }],
});

const port = struct('io.k8s.api.core.v1.ContainerPort', [field('containerPort', scalar('int32'), { whenEmpty: 'zero' }), field('protocol', scalar('string'))]);
const resources = struct('io.k8s.api.core.v1.ResourceRequirements', [field('limits', { type: 'map', values: scalar('quantity'), goName: 'v1.ResourceList' })]);
const container = struct('io.k8s.api.core.v1.Container', [
  field('name', scalar('string'), { whenEmpty: 'zero' }),
  field('image', scalar('string')),
  field('args', list(scalar('string'))),
  field('ports', list(port, 'containerPort')),
  field('resources', resources, { whenEmpty: 'zero' }),
]);

const spec = struct('io.k8s.api.test.v1.ThingSpec', [
  field('replicas', scalar('int32'), { pointer: true }),
  field('minReadySeconds', scalar('int32')),
  field('paused', scalar('boolean')),
  field('target', scalar('intOrString'), { pointer: true }),
  field('ratio', scalar('double'), { pointer: true }),
  field('timeout', scalar('duration'), { pointer: true }),
  field('seen', scalar('microTime'), { pointer: true }),
  field('raw', scalar('any'), { pointer: true }),
  field('containers', list(container, 'name'), { whenEmpty: 'null' }),
  field('volumes', { type: 'list', items: volume, patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
  field('settings', map(container)),
]);

export const thing = struct('io.k8s.api.test.v1.Thing', [
  field('kind', scalar('string')),
  field('apiVersion', scalar('string')),
  field('metadata', objectMeta, { whenEmpty: 'zero' }),
  field('spec', spec, { whenEmpty: 'zero' }),
  field('data', map(scalar('bytes'))),
]);
