import type { JsonObject } from '../encoding/json-types.ts';
import { decode, decodeInSlices } from './decode.ts';
import { decodeInRuns } from './decode-run.ts';
import type { ObjectSchema } from './schema.ts';

/**
 * The object as upstream would encode it, after code has changed it: see `decode`. What is written then is what a decoding of it gives, so that
 * normalizing twice changes nothing. Throws DecodeError where code has made what the type does not allow. Nulls in custom objects stay: validation tells
 * of those that may not be.
 */
export const normalize = (schema: ObjectSchema, object: JsonObject): JsonObject =>
  schema.custom === undefined ? decode(schema, object) : schema.custom.decode(object, undefined, true);

/** The same of what may be large: others have their turn meanwhile. */
export function normalizeInSlices(schema: ObjectSchema, object: JsonObject): JsonObject | Promise<JsonObject> {
  const { custom } = schema;
  return custom === undefined ? decodeInSlices(schema, object) : decodeInRuns((run) => custom.decode(object, undefined, true, run));
}
