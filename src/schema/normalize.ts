import type { JsonObject } from '../util/json-types.ts';
import { decode } from './decode.ts';
import type { ObjectSchema } from './schema.ts';

/**
 * The object as upstream would encode it, after code has changed it: see `decode`. What is written then is what a decoding of it gives, so that
 * normalizing twice changes nothing. Throws DecodeError where code has made what the type does not allow.
 */
export const normalize = (schema: ObjectSchema, object: JsonObject): JsonObject => decode(schema, object);
