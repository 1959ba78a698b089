import type { FieldErrors } from '../../api/field-errors.ts';
import { maxCharactersError } from '../../api/names.ts';

const PORT_NAME_MAX_LENGTH = 15;

export const inclusiveRangeError = (min: number, max: number): string => `must be between ${min} and ${max}, inclusive`;

/** IANA_SVC_NAME: what is wrong with the name of a port, in upstream's words. */
export function portNameErrors(name: string): string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(name) > PORT_NAME_MAX_LENGTH) errors.push(maxCharactersError(PORT_NAME_MAX_LENGTH));
  if (!/^[-a-z0-9]+$/.test(name)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)');
  if (name.includes('--')) errors.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function validatePortNumber(port: number, errors: FieldErrors): void {
  if (port < 1 || port > 65_535) errors.invalid(port, inclusiveRangeError(1, 65_535));
}

/** A port of a container, by its number or its name. */
export function validatePortNumberOrName(port: number | string, errors: FieldErrors): void {
  if (typeof port === 'string') for (const error of portNameErrors(port)) errors.invalid(port, error);
  else validatePortNumber(port, errors);
}
