import type { ApiObject } from '../util/api-object.ts';

/**
 * The step of a write at which managedFields are brought up to date, after mutation and before validation. Ownership is not tracked yet
 * (KEP-555 has its own issue), and a list of owners that nobody keeps true would mislead appliers: the field is left out of what is stored.
 */
export function recordOwnership(object: ApiObject): void {
  delete object.metadata.managedFields;
}
