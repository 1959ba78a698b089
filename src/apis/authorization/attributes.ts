import type { AuthorizationAttributes } from '../../registry/authorizer.ts';
import { FieldErrors } from '../../util/field-errors.ts';
import { type FieldSelector, fieldSelectorOf, parseFieldSelector } from '../../util/field-selector.ts';
import { type LabelSelector, labelSelectorOf, parseLabelSelector } from '../../util/label-selector.ts';
import type { User } from '../../util/user.ts';

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

interface SelectorAttributes {
  rawSelector?: string;
  requirements?: { key: string; operator: string; values?: string[] }[];
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
  const problems: string[] = [];
  const fieldSelector = understand(problems, () => fieldSelectorFrom(resourceAttributes.fieldSelector));
  const labelSelector = understand(problems, () => labelSelectorFrom(resourceAttributes.labelSelector));
  const attributes = { ...NOTHING, user, verb, isResourceRequest: true, apiGroup: group, apiVersion: version === '' ? '*' : version, resource, subresource, namespace, name };
  return { attributes: { ...attributes, ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) }, problems };
}

function understand<R>(problems: string[], read: () => R): R | undefined {
  try {
    return read();
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
}

function fieldSelectorFrom(selector: SelectorAttributes | undefined): FieldSelector | undefined {
  if (selector?.rawSelector) return parseFieldSelector(selector.rawSelector);
  if (!selector?.requirements) return undefined;
  return fieldSelectorOf(
    selector.requirements.map(({ key, operator, values = [] }) => {
      if (values.length > 1) throw new Error('fieldSelectors do not yet support multiple values');
      if ((operator !== 'In' && operator !== 'NotIn') || values.length !== 1) throw new Error(`"${operator}" is not a valid field selector operator`);
      return { field: key, operator: operator === 'In' ? ('=' as const) : ('!=' as const), value: values[0]! };
    }),
  );
}

const LABEL_OPERATORS = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' } as const;

function labelSelectorFrom(selector: SelectorAttributes | undefined): LabelSelector | undefined {
  if (selector?.rawSelector) return parseLabelSelector(selector.rawSelector);
  if (!selector?.requirements) return undefined;
  return labelSelectorOf(
    selector.requirements.map(({ key, operator, values = [] }) => {
      if (!Object.hasOwn(LABEL_OPERATORS, operator)) throw new Error(`"${operator}" is not a valid label selector operator`);
      return { key, operator: LABEL_OPERATORS[operator as keyof typeof LABEL_OPERATORS], values: [...values].sort() };
    }),
  );
}

/** One of the two kinds of attributes, and selectors that are written one way. */
export function validateAccessSpec({ resourceAttributes, nonResourceAttributes }: AccessSpec, errors: FieldErrors): void {
  if (resourceAttributes && nonResourceAttributes) errors.at('nonResourceAttributes').invalid(nonResourceAttributes, 'cannot be specified in combination with resourceAttributes');
  if (!resourceAttributes && !nonResourceAttributes) errors.at('resourceAttributes').invalid(null, 'exactly one of nonResourceAttributes or resourceAttributes must be specified');
}

export function validateSelectors(attributes: ResourceAttributes | undefined, errors: FieldErrors): void {
  for (const name of ['fieldSelector', 'labelSelector'] as const) {
    const selector = attributes?.[name];
    if (!selector) continue;
    const at = errors.at(name);
    const isEmpty = (selector.requirements ?? []).length === 0;
    if (selector.rawSelector && !isEmpty) at.at('rawSelector').invalid(selector.rawSelector, 'may not specified at the same time as requirements');
    if (!selector.rawSelector && isEmpty) at.at('requirements').required(`when ${at.path} is specified, requirements or rawSelector is required`);
  }
}
