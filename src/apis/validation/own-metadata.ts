import { validateMetadata } from '../../registry/metadata.ts';
import type { ObjectMeta } from '../../util/api-object.ts';
import type { FieldErrors } from '../../util/field-errors.ts';
import { subdomainName } from '../../util/names.ts';
import { validateFinalizerNames } from './finalizer-names.ts';

/**
 * What a kind of the older groups demands of metadata, name and all. For kinds with `validatesMetadata: false`: those that demand this of a changed object too,
 * but do not repeat what every update must keep.
 */
export function validateOwnMetadata(metadata: ObjectMeta, isNamespaced: boolean, errors: FieldErrors): void {
  validateMetadata(metadata, isNamespaced, subdomainName, errors.at('metadata'));
  validateFinalizerNames(metadata, errors);
}
