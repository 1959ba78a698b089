import type { FieldErrors } from '../../api/field-errors.ts';
import { isJsonObject, stringifyJson } from '../../encoding/json.ts';
import type { Json } from '../../encoding/json-types.ts';
import type { DeviceConfiguration } from '../facts/types/resource-v1.ts';
import { validateDriverName } from './names.ts';

/** Of configuration lists. */
export const MAX_CONFIGS = 32;
const PARAMETERS_MAX_BYTES = 10 * 1024;

/** What a driver is told about devices, which only the driver understands. `isStored`: it was there before the limit on its size was. */
export function validateConfiguration({ opaque }: DeviceConfiguration, isStored: boolean, errors: FieldErrors): void {
  if (!opaque) return errors.at('opaque').required();
  validateDriverName(opaque.driver, errors.at('opaque', 'driver'));
  validateRawObject(opaque.parameters, errors.at('opaque', 'parameters'), isStored ? Infinity : PARAMETERS_MAX_BYTES);
}

/** Any JSON, as long as it is an object. */
export function validateRawObject(value: Json | undefined, errors: FieldErrors, maxBytes: number): void {
  if (value === undefined || value === null) errors.required();
  else if (Buffer.byteLength(stringifyJson(value)) > maxBytes) errors.tooLong(maxBytes);
  else if (!isJsonObject(value)) errors.invalid('<value omitted>', 'must be a valid JSON object');
}
