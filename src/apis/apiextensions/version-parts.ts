import type { FieldErrors } from '../../api/field-errors.ts';
import type { CustomResourceColumnDefinition, CustomResourceSubresources, JSONSchemaProps, SelectableField } from '../facts/types/apiextensions-v1.ts';
import { findField } from './field-path.ts';

/** What a version of a custom resource has beside its schema: columns, subresources, fields for selectors. */
const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const SELECTABLE_TYPES = new Set(['string', 'boolean', 'integer']);
const NOT_SELECTABLE = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
const DEPRECATION_MAX_BYTES = 256;
export const MAX_SELECTABLE_FIELDS = 8;

export function validateColumns(columns: readonly CustomResourceColumnDefinition[], errors: FieldErrors): void {
  for (const [index, { name, type, format, jsonPath }] of columns.entries()) {
    const at = errors.index(index);
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (name === '') at.at('name').required();
    if (type === '') at.at('type').required(types);
    else if (!COLUMN_TYPES.includes(type)) at.at('type').invalid(type, types);
    if (format && !COLUMN_FORMATS.includes(format)) at.at('format').invalid(format, `must be one of ${COLUMN_FORMATS.join(',')}`);
    if (jsonPath === '') at.at('JSONPath').required();
    else validateSimplePath(jsonPath, at.at('JSONPath'));
  }
}

/** Answers whether it is such a path. */
function validateSimplePath(path: string, errors: FieldErrors): boolean {
  if (path.startsWith('.')) return true;
  errors.invalid(path, 'must be a simple json path starting with .');
  return false;
}

export function validateSubresources({ scale }: CustomResourceSubresources, errors: FieldErrors): void {
  if (!scale) return;
  validateScalePath(scale.specReplicasPath, true, ['.spec.'], 'should be a json path under .spec', errors.at('scale', 'specReplicasPath'));
  validateScalePath(scale.statusReplicasPath, true, ['.status.'], 'should be a json path under .status', errors.at('scale', 'statusReplicasPath'));
  validateScalePath(
    scale.labelSelectorPath ?? '',
    false,
    ['.spec.', '.status.'],
    'should be a json path under either .spec or .status',
    errors.at('scale', 'labelSelectorPath'),
  );
}

function validateScalePath(path: string, isRequired: boolean, roots: readonly string[], must: string, errors: FieldErrors): void {
  if (path === '') {
    if (isRequired) errors.required();
  } else if (validateSimplePath(path, errors) && !roots.some((root) => path.startsWith(root))) errors.invalid(path, must);
}

export function validateSelectableFields(fields: readonly SelectableField[], schema: JSONSchemaProps, allowsTooMany: boolean, errors: FieldErrors): void {
  const paths = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    const at = errors.index(index).at('jsonPath');
    const found = jsonPath === '' ? undefined : findField(jsonPath, schema, false);
    if (!found) at.required();
    else if ('error' in found) at.invalid(jsonPath, `is an invalid path: ${found.error}`);
    else {
      if (found.root === 'metadata') at.invalid(jsonPath, 'must not point to fields in metadata');
      if (!SELECTABLE_TYPES.has(found.schema?.type ?? '')) at.invalid(jsonPath, NOT_SELECTABLE);
      if (paths.has(found.path)) at.duplicate(jsonPath);
      paths.add(found.path);
    }
  }
  if (paths.size > MAX_SELECTABLE_FIELDS && !allowsTooMany) errors.tooMany(paths.size, MAX_SELECTABLE_FIELDS);
}

export function validateDeprecation(isDeprecated: boolean, warning: string | undefined, errors: FieldErrors): void {
  if (warning === undefined) return;
  if (!isDeprecated) return errors.invalidTyped(warning, 'can only be set for deprecated versions');
  if (Buffer.byteLength(warning) > DEPRECATION_MAX_BYTES) errors.invalidTyped(warning, `must be <= ${DEPRECATION_MAX_BYTES} characters long`);
  if (warning === '') errors.invalidTyped(warning, 'must not be an empty string');
  const strange = warning.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (strange === -1) return;
  const index = Buffer.byteLength(warning.slice(0, strange));
  errors.invalidTyped(warning, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
}
