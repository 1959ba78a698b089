import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { withSortedKeys } from '../../encoding/sorted-keys.ts';
import { DecodeError, type StrictErrors, decode } from '../decode.ts';
import type { ObjectSchema } from '../schema.ts';

/** The metadata of a custom object, or of a resource in it. Upstream writes it with its keys sorted to read it, so that the first error is by name (…/schema/objectmeta). */
export function decodeMetadata(schema: ObjectSchema, value: Json, strict?: StrictErrors): JsonObject {
  try {
    return decode(schema, value, strict);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return decode(schema, withSortedKeys(value), strict);
  }
}
