import { validateMetadata } from '../../registry/metadata.ts';
import type { ObjectMeta } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import { validateFinalizerNames } from './finalizer-names.ts';

/** What a kind of the older groups demands of metadata, name and all: for kinds that ask it again in the midst of an update's rules. */
export function validateOwnMetadata(metadata: ObjectMeta, isNamespaced: boolean, errors: FieldErrors): void {
  validateMetadata(metadata, isNamespaced, subdomainName, errors.at('metadata'));
  validateFinalizerNames(metadata, errors);
}
