import type { JsonObject } from '../../encoding/json-types.ts';
import { withoutEmpty } from '../validation/internal-form.ts';
import type { ResourceClaimTemplate, ResourceClaimTemplateSpec } from '../facts/types/resource-v1.ts';
import { defineResource } from '../define.ts';
import { dropGatedFields } from '../gated-fields.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateTemplateMetadata } from '../validation/template-metadata.ts';
import { GATED_SPEC, defaultClaimSpec, printedClaimSpec, validateResourceClaimSpec } from './claim-spec.ts';
import { betaVersions, flattenRequests, nestRequests } from './versions.ts';

/** What the claims of pods are made from. It never changes. */
export const resourceClaimTemplates = defineResource<ResourceClaimTemplate>('resource.k8s.io/v1/resourceclaimtemplates', {
  validatesFinalizerNames: true,
  validatesInSlices: true,
  asksForRights: true,
  default: (template) => fillDefaults(template),
  alsoServed: betaVersions<ResourceClaimTemplate>(
    'ResourceClaimTemplate',
    (template, _context, isFlat) => fillDefaults(template, isFlat),
    ({ spec }) => flattenRequests(spec.spec),
    ({ spec }) => nestRequests(spec.spec),
  ),

  // Of its claims' metadata nothing but labels and annotations may be there, empty or not.
  validatesSentEmpty: () => true,
  prepareForCreate: ({ object: { spec }, settings }) => dropGatedFields(GATED_SPEC, spec.spec, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropGatedFields(GATED_SPEC, spec.spec, old.spec.spec, settings),

  validate({ object: { spec }, settings, sentEmpty }, errors) {
    validateTemplateMetadata(spec.metadata, sentEmpty.at('spec', 'metadata'), errors.at('spec', 'metadata'));
    validateResourceClaimSpec(spec.spec, errors.at('spec', 'spec'), settings);
  },
  validatesWhole: 'before',
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, errors.at('spec'), () => printed(spec)),
});

function fillDefaults({ spec }: ResourceClaimTemplate, isFlat?: boolean): void {
  defaultClaimSpec(spec.spec, isFlat);
}

/** As upstream shows it: its metadata stands among the fields. */
const printed = ({ metadata, spec }: ResourceClaimTemplateSpec): object => ({ ...withoutEmpty(metadata as JsonObject), Spec: printedClaimSpec(spec) });
