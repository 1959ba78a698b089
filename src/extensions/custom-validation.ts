import type { CustomResourceSubresourceScale } from '../apis/facts/types/apiextensions-v1.ts';
import { embeddedMetadata } from '../registry/metadata.ts';
import { Comparison } from '../schema/structural/correlation.ts';
import { validateEmbedded } from '../schema/structural/embedded-resources.ts';
import { validateListTypes } from '../schema/structural/list-items.ts';
import type { Structure } from '../schema/structural/structure.ts';
import { validateValue } from '../schema/structural/value-faults.ts';
import type { ApiObject } from '../api/api-object.ts';
import { FieldErrors, type FieldErrorType, TooManyFieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { qualifiedNameErrors } from '../api/names.ts';
import { validateScale } from './scale.ts';
import type { ValidationRules } from './rules/validation-rules.ts';

/** What objects of one version are validated against. */
export interface VersionRules {
  structure: Structure;
  scale: CustomResourceSubresourceScale | undefined;
  /** Asked for once per object. */
  validations(): ValidationRules | undefined;
  /** Called with how long an update was compared with what was there before. */
  onRatcheted(durationMs: number): void;
}

/** The whole object, in the order of …/registry/customresource/strategy.go. `old` where it is changed: what is unchanged may be wrong. */
export function validateCustom(rules: VersionRules, object: ApiObject, old: ApiObject | undefined, errors: FieldErrors): void {
  const value = object as unknown as JsonObject;
  const before = old as unknown as JsonObject | undefined;
  const comparison = new Comparison();
  validateValue(rules.structure.schema, value, errors, before && { value: before, schema: rules.structure.schema }, { comparison });
  if (rules.scale) validateScale(rules.scale, value, { spec: true }, errors);
  validateEmbedded(rules.structure, value, embeddedMetadata, errors);
  if (before === undefined || !hasListFaults(rules.structure, before)) validateListTypes(rules.structure, value, errors);
  applyRules(rules, value, before, errors, comparison);
  if (before !== undefined) rules.onRatcheted(comparison.elapsedMs);
}

/** A change of the status alone. */
export function validateCustomStatus(rules: VersionRules, object: ApiObject, former: ApiObject, errors: FieldErrors): void {
  const value = object as unknown as JsonObject;
  const before = former as unknown as JsonObject;
  const status = rules.structure.property('status');
  const { status: shown } = value;
  const comparison = new Comparison();
  if (shown !== undefined && status !== undefined) {
    const statusBefore = before['status'];
    // To Go, a null and nothing are the same: such a status has not changed.
    const isSameNull = shown === null && statusBefore === undefined;
    const old = statusBefore === undefined ? undefined : { value: statusBefore, schema: status.schema };
    if (!isSameNull) validateValue(status.schema, shown, errors.at('status'), old, { comparison });
  }
  if (rules.scale) validateScale(rules.scale, value, { spec: false }, errors);
  if (!hasListFaults(rules.structure, before)) validateListTypes(rules.structure, value, errors);
  applyRules(rules, value, before, errors, comparison);
  rules.onRatcheted(comparison.elapsedMs);
}

function hasListFaults(structure: Structure, value: Json): boolean {
  const errors = new FieldErrors();
  try {
    validateListTypes(structure, value, errors);
  } catch (error) {
    if (!(error instanceof TooManyFieldErrors)) throw error;
  }
  return !errors.isEmpty;
}

/** Errors that leave an object in no state for rules to be applied to it. */
const BLOCKING = new Set<FieldErrorType>(['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong', 'FieldValueTooMany', 'FieldValueTypeInvalid']);
const NOT_CHECKED = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function applyRules({ validations }: VersionRules, object: JsonObject, old: JsonObject | undefined, errors: FieldErrors, comparison: Comparison): void {
  const rules = validations();
  if (rules === undefined) return;
  if (errors.list.some(({ type }) => BLOCKING.has(type))) return new FieldErrors('<nil>', errors.list).invalid(null, NOT_CHECKED);
  const warnings: string[] = [];
  rules.validate(object, old, errors, (text) => warnings.push(text), comparison);
  if (warnings.length > 0) letBe.set(object, warnings);
}

/** What rules found wrong with objects, but no more so than it was: found while they are validated, told with their other warnings. */
const letBe = new WeakMap<object, readonly string[]>();

/** Of an object that was validated. */
export const ruleWarnings = (object: ApiObject): readonly string[] => letBe.get(object) ?? [];

export const customWarnings = (object: ApiObject, old: ApiObject | undefined): string[] => [...ruleWarnings(object), ...finalizerWarnings(object, old)];

const STANDARD_FINALIZERS = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Of finalizers that were added: names that others might choose too. */
function finalizerWarnings(object: ApiObject, old: ApiObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers ?? []);
  const added = [...new Set(object.metadata.finalizers ?? [])].filter((name) => !before.has(name)).sort();
  return added.flatMap((name) => {
    const shown = `metadata.finalizers: ${quote(name)}: `;
    const problems = qualifiedNameErrors(name).map((problem) => shown + problem);
    if (name.includes('/') || STANDARD_FINALIZERS.has(name)) return problems;
    const path = name.includes('.') ? 'including a path (/) ' : '';
    return [...problems, `${shown}prefer a domain-qualified finalizer name ${path}to avoid accidental conflicts with other finalizer writers`];
  });
}
