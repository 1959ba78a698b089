import { parseApiVersion } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { dns1035LabelErrors } from '../../api/names.ts';
import { DecodeError } from '../decode.ts';
import { decodeMetadata } from './decode-metadata.ts';
import type { ObjectSchema } from '../schema.ts';
import type { Structure } from './structure.ts';

/** Validates the metadata of an embedded resource. */
export type MetadataRule = (metadata: JsonObject, errors: FieldErrors) => void;

/** That embedded resources have a type and sound metadata (…/schema/objectmeta). */
export function validateEmbedded(structure: Structure | undefined, value: Json, validateMetadata: MetadataRule, errors: FieldErrors): void {
  if (structure === undefined || typeof value !== 'object' || value === null || !structure.hasEmbedded) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (typeof value[index] === 'object') validateEmbedded(structure.items, value[index]!, validateMetadata, errors.index(index));
    return;
  }
  if (structure.isEmbeddedResource) validateResource(value, validateMetadata, errors);
  for (const key of Object.keys(value)) {
    const inner = value[key];
    if (typeof inner !== 'object' || inner === null) continue;
    const property = structure.property(key);
    const child = property ?? structure.additional;
    if (child?.hasEmbedded) validateEmbedded(child, inner, validateMetadata, property ? errors.at(key) : errors.key(key));
  }
}

/**
 * The value with the metadata of its embedded resources as their type has it. Undefined where that is not possible: the errors say why, as of what comes first
 * (…/schema/objectmeta/coerce.go).
 */
export function coerceEmbedded(structure: Structure | undefined, value: Json, metadata: ObjectSchema, errors: FieldErrors): Json | undefined {
  if (structure === undefined || typeof value !== 'object' || value === null || !structure.hasEmbedded) return value;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (let index = 0; index < value.length; index++) {
      const item = coerceEmbedded(structure.items, value[index]!, metadata, errors.index(index));
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }
  const object: JsonObject = {};
  for (const key of Object.keys(value)) {
    const isTyped = structure.isEmbeddedResource && TYPE_FIELDS.has(key);
    const inner = isTyped ? coerceTypeField(key, value[key]!, metadata, errors.at(key)) : coerceField(structure, key, value[key]!, metadata, errors);
    if (inner === undefined) return undefined;
    setKey(object, key, inner);
  }
  return object;
}

function coerceField(structure: Structure, key: string, value: Json, metadata: ObjectSchema, errors: FieldErrors): Json | undefined {
  const property = structure.property(key);
  return coerceEmbedded(property ?? structure.additional, value, metadata, property ? errors.at(key) : errors.key(key));
}

const TYPE_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

function coerceTypeField(key: string, value: Json, metadata: ObjectSchema, errors: FieldErrors): Json | undefined {
  if (key !== 'metadata') {
    if (typeof value === 'string') return value;
    errors.invalid(value, 'must be a string');
    return undefined;
  }
  try {
    return decodeMetadata(metadata, value);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    errors.invalid(value, error.message);
    return undefined;
  }
}

function validateResource(resource: JsonObject, validateMetadata: MetadataRule, errors: FieldErrors): void {
  const { apiVersion, kind, metadata } = resource;
  for (const field of ['apiVersion', 'kind']) if (resource[field] === undefined) errors.at(field).required();
  if (apiVersion !== undefined) validateApiVersion(apiVersion, errors.at('apiVersion'));
  if (kind !== undefined) validateKind(kind, errors.at('kind'));
  if (isJsonObject(metadata)) validateMetadata({ ...metadata, name: metadata['name'] || 'fakename' }, errors.at('metadata'));
}

function validateApiVersion(apiVersion: Json, errors: FieldErrors): void {
  if (typeof apiVersion !== 'string') errors.invalid(apiVersion, 'must be a string');
  else if (apiVersion === '') errors.invalid(apiVersion, 'must not be empty');
  else if (parseApiVersion(apiVersion) === undefined) errors.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
}

function validateKind(kind: Json, errors: FieldErrors): void {
  if (typeof kind !== 'string') return errors.invalid(kind, 'must be a string');
  if (kind === '') return errors.invalid(kind, 'must not be empty');
  const problems = dns1035LabelErrors(kind.toLowerCase());
  if (problems.length > 0) errors.invalid(kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`);
}
