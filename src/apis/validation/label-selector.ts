import { FieldErrors } from '../../api/field-errors.ts';
import { EVERY_LABEL, type LabelOperator, type LabelRequirement, type LabelSelector as ParsedSelector, labelSelectorOf } from '../../api/label-selector.ts';
import { labelValueErrors, qualifiedNameErrors } from '../../api/names.ts';
import { checkEach } from '../../api/validation-run.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../facts/types/meta-v1.ts';

/** Rules of meta/v1's LabelSelector (apimachinery/pkg/apis/meta/v1/validation). */
export interface LabelSelectorOptions {
  /** Where an older release has let them in already. */
  allowInvalidValues?: boolean;
  /** Where a wider check follows. */
  allowUnknownOperators?: boolean;
}

const OPERATORS: Record<string, LabelOperator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

export function validateLabelSelector(selector: LabelSelector | null | undefined, errors: FieldErrors, options: LabelSelectorOptions = {}): void {
  if (!selector) return;
  if (selector.matchLabels) validateLabelMap(selector.matchLabels, errors.at('matchLabels'));
  checkEach(errors, 'expressions', selector.matchExpressions ?? [], (requirement, index) =>
    validateRequirement(requirement, errors.at('matchExpressions').index(index), options),
  );
}

/** Keys and values of labels, each error at the map itself. */
export function validateLabelMap(labels: Record<string, string>, errors: FieldErrors): void {
  for (const [key, value] of Object.entries(labels)) {
    for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
    for (const error of labelValueErrors(value)) errors.invalid(value, error);
  }
}

/** `errors` stands at the requirement. */
export function validateRequirement({ key, operator, values = [] }: LabelSelectorRequirement, errors: FieldErrors, options: LabelSelectorOptions): void {
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues && values.length === 0) errors.at('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  else if (!Object.hasOwn(OPERATORS, operator)) {
    if (!options.allowUnknownOperators) errors.at('operator').invalidTyped(operator, 'not a valid selector operator');
  } else if (!takesValues && values.length > 0) errors.at('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  for (const error of qualifiedNameErrors(key)) errors.at('key').invalid(key, error);
  if (options.allowInvalidValues) return;
  checkEach(errors, 'values', values, (value, index) => {
    for (const error of labelValueErrors(value)) errors.at('values').index(index).invalid(value, error);
  });
}

export function isValidLabelSelector(selector: LabelSelector | null | undefined): boolean {
  const errors = new FieldErrors();
  validateLabelSelector(selector, errors);
  return errors.isEmpty;
}

/** Whether an expression compares with a value that no label can have. */
export function hasInvalidLabelValue(selector: LabelSelector | null | undefined): boolean {
  return (selector?.matchExpressions ?? []).some(({ values }) => (values ?? []).some((value) => labelValueErrors(value).length > 0));
}

const NOTHING: ParsedSelector = { isEmpty: false, requirements: [], matches: () => false, toString: () => '' };

/** No selector selects nothing, an empty one everything. Undefined where it breaks a rule. */
export function parsedSelector(selector: LabelSelector | null | undefined): ParsedSelector | undefined {
  if (!selector) return NOTHING;
  const requirements: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: '=', values: [value] }));
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (!Object.hasOwn(OPERATORS, operator) || values.length > 0 !== (operator === 'In' || operator === 'NotIn')) return undefined;
    requirements.push({ key, operator: OPERATORS[operator]!, values: [...new Set(values)].toSorted() });
  }
  if (requirements.length === 0) return EVERY_LABEL;
  return requirements.every(isValid) ? labelSelectorOf(requirements) : undefined;
}

const isValid = ({ key, values }: LabelRequirement): boolean =>
  qualifiedNameErrors(key).length === 0 && values.every((value) => labelValueErrors(value).length === 0);

/** A selector as a field error prints it: meta/v1's types leave out what is empty. */
export function shownSelector(selector: LabelSelector | null | undefined): LabelSelector | null {
  if (!selector) return null;
  const { matchLabels = {} } = selector;
  const matchExpressions = (selector.matchExpressions ?? []).map((term) => (term.values?.length ? term : { key: term.key, operator: term.operator }));
  return { ...(Object.keys(matchLabels).length > 0 && { matchLabels }), ...(matchExpressions.length > 0 && { matchExpressions }) };
}

/** For a table's cell. */
export function formatLabelSelector(selector: LabelSelector | null | undefined): string {
  const parsed = parsedSelector(selector);
  return parsed === undefined ? '<error>' : parsed.toString() || '<none>';
}

/** `a=1,b=2`, for a table's cell. */
export const formatLabels = (labels: Record<string, string> | undefined): string => labelText(labels) || '<none>';

/** `a=1,b=2`, in the order of keys. */
export const labelText = (labels: Record<string, string> | undefined): string =>
  Object.keys(labels ?? {})
    .toSorted()
    .map((key) => `${key}=${labels![key]}`)
    .join(',');
