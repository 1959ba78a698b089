import { sentEmpty, withEmptied } from '../schema/emptied.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { JsonObject } from '../encoding/json-types.ts';

/**
 * For kinds whose strategy upstream compares with reflect.DeepEqual: a list or map that was sent empty differs from the one that is not stored, so that
 * every update which sends one is a new generation. `field` is what is compared.
 */
export function countEmptied(object: ApiObject, old: ApiObject, field: string): void {
  const fields = object as unknown as JsonObject;
  if (sentEmpty(fields, field) === null && withEmptied(fields[field], fields[field]) === undefined) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}
