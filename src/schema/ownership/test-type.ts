import { normalize } from '../normalize.ts';
import type { FieldSchema, TypeSchema } from '../schema.ts';
import { field as plainField, scalar, struct } from '../test-schemas.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import { typePlanOf } from './type-plan.ts';
import type { Versioned, Versions } from './updater.ts';

/** A small type with every way of owning: for the tests of this folder. */

const field = (name: string, type: TypeSchema, more: Partial<FieldSchema> = {}): FieldSchema => plainField(name, type, { pointer: true, ...more });

const metadata = struct('Metadata', [field('name', scalar('string')), field('labels', { type: 'map', values: scalar('string') })]);
const port = struct('Port', [
  field('port', scalar('int32'), { whenEmpty: 'zero', pointer: false }),
  field('protocol', scalar('string'), { default: 'TCP' }),
  field('name', scalar('string')),
]);
const item = struct('Item', [
  field('name', scalar('string'), { whenEmpty: 'zero', pointer: false }),
  field('value', scalar('string')),
  field('ports', { type: 'list', items: port, listType: 'map', listMapKeys: ['port', 'protocol'] }),
]);

export const THING_SCHEMA = struct('Thing', [
  field('kind', scalar('string')),
  field('apiVersion', scalar('string')),
  field('metadata', metadata, { whenEmpty: 'zero', pointer: false }),
  field('count', scalar('int32')),
  field('text', scalar('string')),
  field('flag', scalar('boolean')),
  field('items', { type: 'list', items: item, listType: 'map', listMapKeys: ['name'] }),
  field('tags', { type: 'list', items: scalar('string'), listType: 'set' }),
  field('steps', { type: 'list', items: scalar('string') }),
  field('selector', { type: 'map', values: scalar('string'), mapType: 'atomic' }),
  field('whole', struct('Whole', [field('a', scalar('string')), field('b', scalar('string'))], { mapType: 'atomic' })),
  field('inner', struct('Inner', [field('a', scalar('string')), field('b', scalar('string'))])),
  field('raw', { type: 'any', name: 'io.k8s.apimachinery.pkg.runtime.RawExtension' }),
  field('free', { type: 'any' }),
]);

export const THING = typePlanOf(THING_SCHEMA);

export const thing = (value: JsonObject, apiVersion = 'v1'): Versioned => ({ apiVersion, plan: THING, value });

/** As its type is stored: without what is empty. */
export const tidy = (value: JsonObject): JsonObject => normalize(THING_SCHEMA, value);

/** One version, in which everything can be owned. */
export const ONE_VERSION: Versions = {
  planOf: (apiVersion) => (apiVersion === 'v1' ? THING : undefined),
  convert: (object) => object,
  ownable: (fields) => fields,
};
