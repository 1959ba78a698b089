import { defineResource } from '../define.ts';
import type { MutatingAdmissionPolicyBinding } from '../facts/types/admissionregistration-v1.ts';
import { defaultMatchResources, formatParamRef, validateMatchResources, validateParamRef } from './match-resources.ts';
import { refuseReservedName, reservedNameWarnings } from './reserved-names.ts';
import { validateMutableOperations } from './rules.ts';
import { earlierVersions } from './versions.ts';
import { validatePolicyName } from './validating-admission-policy-binding.ts';

/** Puts a MutatingAdmissionPolicy to work: on what, and with which parameters. */
export const mutatingAdmissionPolicyBindings = defineResource<MutatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings',
  {
    generation: 'spec',
    allowsUnconditionalUpdate: false,

    default: fillDefaults,
    storage: { form: { version: 'v1beta1' } },
    alsoServed: earlierVersions<MutatingAdmissionPolicyBinding>('MutatingAdmissionPolicyBinding', fillDefaults, ({ spec }) => {
      if (spec.paramRef) spec.paramRef.parameterNotFoundAction ??= 'Deny';
    }),

    validatesWhole: 'before',
    validatesMetadataUpdate: false,
    validate(write, errors) {
      const { spec } = write.object;
      const at = errors.at('spec');
      validatePolicyName(spec.policyName ?? '', at.at('policyName'));
      validateParamRef(spec.paramRef, at.at('paramRef'));
      validateMatchResources(spec.matchResources, at.at('matchResources'));
      validateMutableOperations(spec.matchResources?.resourceRules, at.at('matchResources', 'resourceRules'));
      refuseReservedName(write, errors);
    },
    warnings: reservedNameWarnings,

    cells: {
      PolicyName: ({ spec }) => spec.policyName ?? '',
      ParamRef: ({ spec }) => formatParamRef(spec.paramRef),
    },
  },
);

function fillDefaults({ spec }: MutatingAdmissionPolicyBinding): void {
  defaultMatchResources(spec.matchResources);
}
