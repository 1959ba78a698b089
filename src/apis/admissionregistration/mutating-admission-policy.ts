import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type { MutatingAdmissionPolicy, Mutation } from '../facts/types/admissionregistration-v1.ts';
import { validateChoice } from '../validation/choice.ts';
import type { ExpressionScope } from './expressions.ts';
import { expressionsOf, validateExpression, validateMatchConditions } from './match-conditions.ts';
import { defaultMatchResources, formatParamKind, validateMatchResources, validateParamKind } from './match-resources.ts';
import { FAIL, FAILURE_POLICIES, REINVOCATION_POLICIES } from './policies.ts';
import { validateVariables } from './policy-expressions.ts';
import { refuseReservedName, reservedNameWarnings } from './reserved-names.ts';
import { validateMutableOperations } from './rules.ts';
import { earlierVersions } from './versions.ts';

/** What each type of patch is written in; the other's field must be absent. */
const PATCHES = [
  { type: 'ApplyConfiguration', field: 'applyConfiguration', other: 'jsonPatch', result: 'object' },
  { type: 'JSONPatch', field: 'jsonPatch', other: 'applyConfiguration', result: 'jsonPatch' },
] as const;

/** Changes in CEL that are made to what requests write. It takes effect through bindings. */
export const mutatingAdmissionPolicies = defineResource<MutatingAdmissionPolicy>('admissionregistration.k8s.io/v1/mutatingadmissionpolicies', {
  validatesInSlices: true,
  generation: 'spec',
  allowsUnconditionalUpdate: false,

  default: fillDefaults,
  storage: { form: { version: 'v1beta1' } },
  alsoServed: earlierVersions<MutatingAdmissionPolicy>('MutatingAdmissionPolicy', fillDefaults),

  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validate(write, errors) {
    const {
      object: { spec },
      old,
      settings: { hasFormerCel },
    } = write;
    const at = errors.at('spec');
    const scope = { hasParams: spec.paramKind !== undefined, hasFormerCel };
    if (spec.failurePolicy === undefined) at.at('failurePolicy').required();
    else if (!FAILURE_POLICIES.includes(spec.failurePolicy)) at.at('failurePolicy').notSupported(spec.failurePolicy, FAILURE_POLICIES);
    if (spec.paramKind) validateParamKind(spec.paramKind, at.at('paramKind'));
    validateConstraints(spec, at.at('matchConstraints'));
    const areConditionsOld = old && equalJson(spec.paramKind, old.spec.paramKind) && equalJson(spec.matchConditions, old.spec.matchConditions);
    if (!areConditionsOld) validateMatchConditions(spec.matchConditions, scope, new Set(expressionsOf(old?.spec.matchConditions)), at.at('matchConditions'));
    validateVariables(spec.variables, scope, new Set(), at.at('variables'));
    validateMutations(spec, scope, storedMutations(old), at.at('mutations'));
    validateChoice(spec.reinvocationPolicy, REINVOCATION_POLICIES, at.at('reinvocationPolicy'));
    refuseReservedName(write, errors);
  },
  warnings: reservedNameWarnings,

  cells: {
    Mutations: ({ spec }) => (spec.mutations ?? []).length,
    ParamKind: ({ spec }) => formatParamKind(spec.paramKind),
  },
});

function fillDefaults({ spec }: MutatingAdmissionPolicy): void {
  spec.failurePolicy ??= FAIL;
  defaultMatchResources(spec.matchConstraints);
}

type Spec = MutatingAdmissionPolicy['spec'];

const storedMutations = (old: MutatingAdmissionPolicy | undefined): ReadonlySet<string> =>
  new Set((old?.spec.mutations ?? []).flatMap(({ applyConfiguration }) => applyConfiguration?.expression ?? []));

function validateConstraints({ matchConstraints }: Spec, errors: FieldErrors): void {
  if (!matchConstraints) return errors.required();
  validateMatchResources(matchConstraints, errors);
  const rules = errors.at('resourceRules');
  // Types come from them.
  if ((matchConstraints.resourceRules ?? []).length === 0) rules.required();
  validateMutableOperations(matchConstraints.resourceRules, rules);
}

function validateMutations(
  { mutations = [], variables = [] }: Spec,
  given: Pick<ExpressionScope, 'hasParams' | 'hasFormerCel'>,
  stored: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  if (mutations.length === 0) errors.required('mutations must contain at least one item');
  const scope = { ...given, hasAuthorizer: true, hasPatchTypes: true, variables };
  for (const [index, mutation] of mutations.entries()) validateMutation(mutation, scope, stored, errors.index(index));
}

function validateMutation(mutation: Mutation, scope: Omit<ExpressionScope, 'isStored' | 'result'>, stored: ReadonlySet<string>, errors: FieldErrors): void {
  const { patchType } = mutation;
  if (patchType === '') return errors.at('patchType').required();
  const patch = PATCHES.find(({ type }) => type === patchType);
  if (!patch)
    return errors.at('patchType').notSupported(
      patchType,
      PATCHES.map(({ type }) => type),
    );
  const at = errors.at(patch.field);
  const expression = mutation[patch.field]?.expression?.trim() ?? '';
  if (!mutation[patch.field]) at.required(`must be specified when patchType is ${patch.type}`);
  else if (expression === '') at.at('expression').required();
  else validateExpression(expression, { ...scope, isStored: stored.has(mutation[patch.field]!.expression!), result: patch.result }, at.at('expression'));
  if (mutation[patch.other]) errors.at(patch.other).invalid(`{${patch.other}}`, `must not be specified when patchType is ${patch.type}`);
}
