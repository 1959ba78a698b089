import { isJsonObject } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';

/* Members of objects that others have sent: what is of another type is as if it were not there. */

export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

export const textsOf = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);

export const listOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

export function memberOf(object: JsonObject | undefined, name: string): JsonObject {
  const value = object?.[name];
  return isJsonObject(value) ? value : {};
}

/** An object's own resourceVersion, or a list's; empty where it has none. */
export const versionOf = (object: JsonObject | undefined): string => textOf(memberOf(object, 'metadata')['resourceVersion']);
