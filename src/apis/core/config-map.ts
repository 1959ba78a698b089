import type { ApiObject } from '../../api/api-object.ts';
import type { Change } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { configMapKeyErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { ConfigMap } from '../facts/types/core-v1.ts';

/** Of a ConfigMap's or Secret's values together. */
export const MAX_DATA_BYTES = 1024 * 1024;

const IMMUTABLE = 'field is immutable when `immutable` is set';

/** Configuration that pods read. Stored whole; up to 1 MiB of values. */
export const configMaps = defineResource<ConfigMap>('v1/configmaps', {
  validatesFinalizerNames: true,
  validate({ object: { data = {}, binaryData = {} } }, errors) {
    for (const key of Object.keys(data)) {
      const at = errors.at('data').key(key);
      for (const error of configMapKeyErrors(key)) at.invalid(key, error);
      if (Object.hasOwn(binaryData, key)) at.invalid(key, 'duplicate of key present in binaryData');
    }
    for (const key of Object.keys(binaryData)) for (const error of configMapKeyErrors(key)) errors.at('binaryData').key(key).invalid(key, error);
    if (textBytes(data) + base64Bytes(binaryData) > MAX_DATA_BYTES) errors.tooLong(MAX_DATA_BYTES);
  },

  validatesWhole: 'after',
  validateUpdate(write, errors) {
    // `data` that is not there is defaulted to an empty map, so that an empty one makes no difference.
    const sentEmpty = write.sentEmpty.without('data');
    if (write.old.immutable) validateImmutable({ ...write, sentEmpty }, ['data', 'binaryData'], errors);
  },

  cells: { Data: ({ data = {}, binaryData = {} }) => Object.keys(data).length + Object.keys(binaryData).length },
});

/** Once set, `immutable` holds the object's contents and itself. A map that is sent empty differs from none, as to reflect.DeepEqual, which upstream compares with. */
export function validateImmutable<T extends ApiObject & { immutable?: boolean }>(
  { object, old, sentEmpty }: Change<T>,
  fields: readonly (keyof T & string)[],
  errors: FieldErrors,
): void {
  if (!object.immutable) errors.at('immutable').forbidden(IMMUTABLE);
  for (const field of fields) if (!equalJson(object[field], old[field]) || sentEmpty.has(field)) errors.at(field).forbidden(IMMUTABLE);
}

const textBytes = (values: Record<string, string>): number => Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value), 0);

export const base64Bytes = (values: Record<string, string>): number =>
  Object.values(values).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
