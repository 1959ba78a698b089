import type { FieldErrors } from '../../../util/field-errors.ts';
import type { PersistentVolumeClaimTemplate } from '../../facts/types/core-v1.ts';
import { validateClaimSpec } from '../../validation/claim-spec.ts';
import { validateTemplateMetadata } from '../../validation/template-metadata.ts';

/** The claim that a pod's ephemeral volume brings along. */
export function validateClaimTemplate({ metadata, spec }: PersistentVolumeClaimTemplate, errors: FieldErrors): void {
  validateTemplateMetadata(metadata, errors.at('metadata'));
  validateClaimSpec(spec, errors.at('spec'));
}
