import { parseApiVersion } from '../../util/api-object.ts';
import type { FieldErrors } from '../../util/field-errors.ts';
import { isJsonObject } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';
import { dns1035LabelErrors } from '../../util/names.ts';
import type { Structure } from './structure.ts';

/** Judges the metadata of an embedded resource. */
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
