import type { FieldErrors } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { ValidatingAdmissionPolicyBinding } from '../facts/types/admissionregistration-v1.ts';
import { defaultMatchResources, formatParamRef, validateMatchResources, validateParamRef } from './match-resources.ts';
import { refuseReservedName, reservedNameWarnings } from './reserved-names.ts';
import { repeats } from '../validation/repeats.ts';

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const DENY_AND_WARN =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';

/** Puts a ValidatingAdmissionPolicy to work: on what, with which parameters, and what a violation leads to. */
export const validatingAdmissionPolicyBindings = defineResource<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  {
    generation: 'spec',
    allowsUnconditionalUpdate: false,

    default({ spec }) {
      defaultMatchResources(spec.matchResources);
    },

    validatesWhole: 'before',
    validatesMetadataUpdate: false,
    validate(write, errors) {
      const { spec } = write.object;
      const at = errors.at('spec');
      validatePolicyName(spec.policyName ?? '', at.at('policyName'));
      validateParamRef(spec.paramRef, at.at('paramRef'));
      validateMatchResources(spec.matchResources, at.at('matchResources'));
      validateActions(spec.validationActions ?? [], at.at('validationActions'));
      refuseReservedName(write, errors);
    },
    warnings: reservedNameWarnings,

    cells: {
      PolicyName: ({ spec }) => spec.policyName ?? '',
      ParamRef: ({ spec }) => formatParamRef(spec.paramRef),
    },
  },
);

export function validatePolicyName(name: string, errors: FieldErrors): void {
  if (name === '') return errors.required();
  for (const error of subdomainName(name, false)) errors.invalid(name, error);
}

function validateActions(actions: readonly string[], errors: FieldErrors): void {
  const isRepeated = repeats<string>();
  for (const [index, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) errors.index(index).notSupported(action, ACTIONS);
    if (isRepeated(action)) errors.index(index).duplicateTyped(action);
  }
  if (actions.includes('Deny') && actions.includes('Warn')) errors.invalid(actions, DENY_AND_WARN);
  if (actions.length === 0) errors.required('at least one validation action is required');
}
