import type { Write } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { qualifiedNameErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { AuditAnnotation, ExpressionWarning, ValidatingAdmissionPolicy, Validation } from '../facts/types/admissionregistration-v1.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateConditions } from '../validation/conditions.ts';
import { jsonPathError } from '../validation/json-path.ts';
import { expressionsOf, validateExpression, validateMatchConditions } from './match-conditions.ts';
import { defaultMatchResources, formatParamKind, validateMatchResources, validateParamKind } from './match-resources.ts';
import { FAIL, FAILURE_POLICIES } from './policies.ts';
import { validateVariables } from './policy-expressions.ts';
import { refuseReservedName, reservedNameWarnings } from './reserved-names.ts';

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const MAX_ANNOTATIONS = 20;
const ANNOTATION_EXPRESSION_MAX_BYTES = 5 * 1024;
const NOTHING_TO_DO = 'validations or auditAnnotations must contain at least one item';

/** Rules in CEL that a request must keep. It takes effect through bindings. */
export const validatingAdmissionPolicies = defineResource<ValidatingAdmissionPolicy>('admissionregistration.k8s.io/v1/validatingadmissionpolicies', {
  validatesInSlices: true,
  generation: 'spec',
  allowsUnconditionalUpdate: false,

  default({ spec }) {
    spec.failurePolicy ??= FAIL;
    defaultMatchResources(spec.matchConstraints);
  },

  validatesWhole: 'before',
  validatesMetadataUpdate: false,
  validate(write, errors) {
    validatePolicy(write, errors);
    refuseReservedName(write, errors);
  },
  warnings: reservedNameWarnings,

  subresources: {
    status: {
      update: {
        createsOnApply: true,
        validatesMetadata: false,
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate({ object: { status } }, errors) {
          validateWarnings(status.typeChecking?.expressionWarnings ?? [], errors.at('status', 'typeChecking', 'expressionWarnings'));
          validateConditions(status.conditions, errors.at('status', 'conditions'));
        },
      },
    },
  },

  cells: {
    Validations: ({ spec }) => (spec.validations ?? []).length,
    ParamKind: ({ spec }) => formatParamKind(spec.paramKind),
  },
});

/** Expressions of the old object, which need not be what this release would take anew. */
function storedExpressions(old: ValidatingAdmissionPolicy | undefined) {
  const { validations = [], auditAnnotations = [], matchConditions } = old?.spec ?? {};
  return {
    conditions: new Set(expressionsOf(matchConditions)),
    validations: new Set(validations.map(({ expression }) => expression)),
    messages: new Set(validations.flatMap(({ messageExpression }) => messageExpression ?? [])),
    annotations: new Set(auditAnnotations.map(({ valueExpression }) => valueExpression)),
  };
}

function validatePolicy({ object: policy, old, settings: { hasFormerCel } }: Write<ValidatingAdmissionPolicy>, errors: FieldErrors): void {
  const { spec } = policy;
  const at = errors.at('spec');
  const stored = storedExpressions(old);
  const scope = { hasParams: spec.paramKind !== undefined, hasFormerCel };
  if (spec.failurePolicy === undefined) at.at('failurePolicy').required();
  else if (!FAILURE_POLICIES.includes(spec.failurePolicy)) at.at('failurePolicy').notSupported(spec.failurePolicy, FAILURE_POLICIES);
  if (spec.paramKind) validateParamKind(spec.paramKind, at.at('paramKind'));
  validateMatchResources(spec.matchConstraints, at.at('matchConstraints'));
  if (!spec.matchConstraints) at.at('matchConstraints').required();
  // Types come from them.
  else if ((spec.matchConstraints.resourceRules ?? []).length === 0) at.at('matchConstraints', 'resourceRules').required();
  const areConditionsOld = old && equalJson(spec.paramKind, old.spec.paramKind) && equalJson(spec.matchConditions, old.spec.matchConditions);
  if (!areConditionsOld) validateMatchConditions(spec.matchConditions, scope, stored.conditions, at.at('matchConditions'));
  validateVariables(spec.variables, scope, stored.validations, at.at('variables'));
  validateOutcomes(policy, scope, stored, at);
}

function validateOutcomes(
  { metadata, spec }: ValidatingAdmissionPolicy,
  given: Pick<PolicyScope, 'hasParams' | 'hasFormerCel'>,
  stored: ReturnType<typeof storedExpressions>,
  errors: FieldErrors,
): void {
  const { validations = [], auditAnnotations = [] } = spec;
  if (validations.length === 0 && auditAnnotations.length === 0) {
    for (const field of ['validations', 'auditAnnotations']) errors.at(field).required(NOTHING_TO_DO);
    return;
  }
  const { variables = [] } = spec;
  // A policy that declares no variables has none to name.
  const scope = { ...given, hasAuthorizer: true, ...(variables.length > 0 && { variables }) };
  for (const [index, validation] of validations.entries()) validateValidation(validation, scope, stored, errors.at('validations').index(index));
  const at = errors.at('auditAnnotations');
  if (auditAnnotations.length > MAX_ANNOTATIONS)
    at.invalid(auditAnnotations.map(printedAnnotation), `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`);
  const keys = new Set<string>();
  for (const [index, annotation] of auditAnnotations.entries()) {
    validateAnnotationKey(annotation.key, metadata.name ?? '', at.index(index).at('key'));
    validateAnnotationValue(annotation.valueExpression, scope, stored.annotations, at.index(index).at('valueExpression'));
    if (keys.has(annotation.key)) at.index(index).at('key').duplicate(annotation.key);
    keys.add(annotation.key);
  }
}

const printedAnnotation = ({ key, valueExpression }: AuditAnnotation): object => ({ Key: key, ValueExpression: valueExpression });

type PolicyScope = Pick<Parameters<typeof validateExpression>[1], 'hasParams' | 'hasAuthorizer' | 'hasFormerCel' | 'variables'>;

function validateValidation(validation: Validation, scope: PolicyScope, stored: ReturnType<typeof storedExpressions>, errors: FieldErrors): void {
  const { expression, message = '', messageExpression = '', reason } = validation;
  if (expression.trim() === '') errors.at('expression').required('expression is not specified');
  else validateExpression(expression, { ...scope, isStored: stored.validations.has(expression), result: 'bool' }, errors.at('expression'));
  if (messageExpression !== '' && messageExpression.trim() === '') errors.at('messageExpression').invalid(messageExpression, 'must be non-empty if specified');
  else if (messageExpression !== '') {
    const messageScope = { ...scope, hasAuthorizer: false, isStored: stored.messages.has(messageExpression), result: 'string' as const };
    validateExpression(messageExpression, messageScope, errors.at('messageExpression'));
  }
  if (message !== '' && message.trim() === '') errors.at('message').invalid(message, 'must be non-empty if specified');
  else if (/[\n\r]/.test(message.trim())) errors.at('message').invalid(message, 'must not contain line breaks');
  if (reason !== undefined && !REASONS.includes(reason)) errors.at('reason').notSupported(reason, REASONS);
}

/** It is recorded as `<policy>/<key>`. */
function validateAnnotationKey(key: string, policy: string, errors: FieldErrors): void {
  if (policy === '') return errors.invalid(key, 'requires metadata.name be non-empty');
  for (const error of qualifiedNameErrors(`${policy}/${key}`)) errors.invalid(`${policy}/${key}`, error);
}

function validateAnnotationValue(expression: string, scope: PolicyScope, stored: ReadonlySet<string>, errors: FieldErrors): void {
  const trimmed = expression.trim();
  if (trimmed === '') errors.required('valueExpression is not specified');
  else if (Buffer.byteLength(trimmed) > ANNOTATION_EXPRESSION_MAX_BYTES) errors.required(`must not exceed ${ANNOTATION_EXPRESSION_MAX_BYTES} bytes in length`);
  else validateExpression(trimmed, { ...scope, isStored: stored.has(expression), result: 'stringOrNull' }, errors, expression);
}

function validateWarnings(warnings: readonly ExpressionWarning[], errors: FieldErrors): void {
  for (const [index, { warning, fieldRef }] of warnings.entries()) {
    if (warning === '') errors.index(index).at('warning').required();
    const path = fieldRef.trim();
    const problem = path === '' ? undefined : jsonPathError(`{${path}}`);
    if (path === '') errors.index(index).at('fieldRef').required();
    else if (problem !== undefined) errors.index(index).at('fieldRef').invalid(path, `invalid JSONPath: ${problem}`);
  }
}
