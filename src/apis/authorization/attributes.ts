import type { AuthorizationAttributes } from '../../api/authorization.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { type FieldSelector, fieldSelectorOf, parseFieldSelector } from '../../api/field-selector.ts';
import { type LabelSelector, labelSelectorOf, parseLabelSelector } from '../../api/label-selector.ts';
import type { User } from '../../api/user.ts';
import { validateRequirement } from '../validation/label-selector.ts';

/** The attributes of an access review, as authorization.k8s.io/v1 writes them. */
export interface ResourceAttributes {
  namespace?: string;
  verb?: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  name?: string;
  fieldSelector?: SelectorAttributes;
  labelSelector?: SelectorAttributes;
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

interface SelectorAttributes {
  rawSelector?: string;
  requirements?: Requirement[];
}

export interface NonResourceAttributes {
  path?: string;
  verb?: string;
}

export interface AccessSpec {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: NonResourceAttributes;
}

/** What is asked of the authorizer, and what could not be understood of the question: shown in the answer, not refused. */
export interface Question {
  attributes: AuthorizationAttributes;
  problems: string[];
}

const NOTHING = { isResourceRequest: false, apiGroup: '', apiVersion: '', resource: '', subresource: '', namespace: '', name: '', path: '' };

export function questionOf(user: User, { resourceAttributes, nonResourceAttributes }: AccessSpec): Question {
  if (!resourceAttributes) {
    return { attributes: { ...NOTHING, user, verb: nonResourceAttributes?.verb ?? '', path: nonResourceAttributes?.path ?? '' }, problems: [] };
  }
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = resourceAttributes;
  const fields = fieldSelectorFrom(resourceAttributes.fieldSelector);
  const labels = labelSelectorFrom(resourceAttributes.labelSelector);
  const problems = [...ignored('fieldSelector', fields), ...ignored('labelSelector', labels)];
  const attributes = {
    ...NOTHING,
    user,
    verb,
    isResourceRequest: true,
    apiGroup: group,
    apiVersion: version === '' ? '*' : version,
    resource,
    subresource,
    namespace,
    name,
  };
  return {
    attributes: { ...attributes, ...(fields.selector && { fieldSelector: fields.selector }), ...(labels.selector && { labelSelector: labels.selector }) },
    problems,
  };
}

/** What of a selector was understood. The rest is left out, which asks for more than was meant, never for less. */
interface Understood<S> {
  selector?: S;
  isWhole: boolean;
}

const ignored = (field: string, { selector, isWhole }: Understood<unknown>): string[] =>
  isWhole ? [] : [`spec.resourceAttributes.${field} ${selector ? 'partially ' : ''}ignored due to parse error`];

function parsed<S>(parse: () => S): Understood<S> {
  try {
    return { selector: parse(), isWhole: true };
  } catch {
    return { isWhole: false };
  }
}

function fieldSelectorFrom({ rawSelector, requirements = [] }: SelectorAttributes = {}): Understood<FieldSelector> {
  if (rawSelector) return parsed(() => parseFieldSelector(rawSelector));
  const known = requirements.flatMap(({ key, operator, values = [] }) => {
    if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return [];
    return [{ field: key, operator: operator === 'In' ? ('=' as const) : ('!=' as const), value: values[0]! }];
  });
  return { ...(known.length > 0 && { selector: fieldSelectorOf(known) }), isWhole: known.length === requirements.length };
}

const LABEL_OPERATORS = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const;

function labelSelectorFrom({ rawSelector, requirements = [] }: SelectorAttributes = {}): Understood<LabelSelector> {
  if (rawSelector) return parsed(() => parseLabelSelector(rawSelector));
  const known = requirements.flatMap(({ key, operator, values = [] }) =>
    Object.hasOwn(LABEL_OPERATORS, operator) ? [{ key, operator: LABEL_OPERATORS[operator as keyof typeof LABEL_OPERATORS], values: values.toSorted() }] : [],
  );
  return { ...(known.length > 0 && { selector: labelSelectorOf(known) }), isWhole: known.length === requirements.length };
}

/** One of the two kinds of attributes, and selectors that are written one way. */
export function validateAccessSpec({ resourceAttributes, nonResourceAttributes }: AccessSpec, errors: FieldErrors): void {
  if (resourceAttributes && nonResourceAttributes)
    errors.at('nonResourceAttributes').invalid(printedPath(nonResourceAttributes), 'cannot be specified in combination with resourceAttributes');
  if (!resourceAttributes && !nonResourceAttributes)
    errors.at('resourceAttributes').invalid(null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified');
}

/** As upstream shows it. */
export const printedPath = ({ path = '', verb = '' }: NonResourceAttributes): object => ({ Path: path, Verb: verb });

export function validateAttributeSelectors(attributes: ResourceAttributes | undefined, errors: FieldErrors): void {
  for (const name of ['fieldSelector', 'labelSelector'] as const) {
    const selector = attributes?.[name];
    if (!selector) continue;
    const at = errors.at(name);
    const { rawSelector, requirements = [] } = selector;
    if (rawSelector && requirements.length > 0) at.at('rawSelector').invalid(rawSelector, 'may not specified at the same time as requirements');
    if (!rawSelector && requirements.length === 0) at.at('requirements').required(`when ${at.path} is specified, requirements or rawSelector is required`);
    // Operators of newer clients are let through: what is not understood is left out of the question.
    const validate = name === 'fieldSelector' ? validateFieldRequirement : validateLabelRequirement;
    for (const [index, requirement] of requirements.entries()) validate(requirement, at.at('requirements').index(index));
  }
}

const validateLabelRequirement = (requirement: Requirement, errors: FieldErrors): void =>
  validateRequirement(requirement, errors, { allowUnknownOperators: true });

function validateFieldRequirement({ key, operator, values = [] }: Requirement, errors: FieldErrors): void {
  if (key === '') errors.at('key').required('must be specified');
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) errors.at('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    errors.at('values').forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}
