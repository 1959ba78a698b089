import type { AuthorizationAttributes } from '../api/authorization.ts';
import type { FieldSelector } from '../api/field-selector.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { LabelOperator, LabelSelector } from '../api/label-selector.ts';

/* A request as a SubjectAccessReview asks for it, for authorizers outside the process (apiserver/plugin/pkg/authorizer/webhook). */

/** The `spec`, as authorization.k8s.io/v1 writes it. */
export function reviewSpec(attributes: AuthorizationAttributes): JsonObject {
  const { user } = attributes;
  return {
    ...(attributes.isResourceRequest
      ? { resourceAttributes: resourceAttributes(attributes) }
      : { nonResourceAttributes: withoutEmpty({ path: attributes.path, verb: attributes.verb }) }),
    ...(user.name !== '' && { user: user.name }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    ...(user.uid && { uid: user.uid }),
  };
}

/** The body of the request. The old version calls the groups `group`. */
export function reviewBody(spec: JsonObject, version: string): JsonObject {
  const { groups, ...rest } = spec;
  const sent = version === 'v1beta1' && groups !== undefined ? { ...rest, group: groups } : spec;
  return { kind: 'SubjectAccessReview', apiVersion: `authorization.k8s.io/${version}`, metadata: {}, spec: sent, status: { allowed: false } };
}

/** What match conditions see: every text is there, empty or not. */
export function conditionRequest(attributes: AuthorizationAttributes): JsonObject {
  const { user, isResourceRequest, namespace, verb, apiGroup, apiVersion, resource, subresource, name, path } = attributes;
  const named = { namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name };
  return {
    user: user.name,
    groups: user.groups,
    uid: user.uid ?? '',
    extra: user.extra ?? {},
    ...(isResourceRequest ? { resourceAttributes: { ...named, ...selectors(attributes) } } : { nonResourceAttributes: { path, verb } }),
  };
}

function resourceAttributes(attributes: AuthorizationAttributes): JsonObject {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name } = attributes;
  return { ...withoutEmpty({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }), ...selectors(attributes) };
}

const withoutEmpty = (texts: Record<string, string>): JsonObject => Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

function selectors({ fieldSelector, labelSelector }: AuthorizationAttributes): JsonObject {
  const fields = fieldSelector ? fieldRequirements(fieldSelector) : [];
  const labels = labelSelector ? labelRequirements(labelSelector) : [];
  return { ...(fields.length > 0 && { fieldSelector: { requirements: fields } }), ...(labels.length > 0 && { labelSelector: { requirements: labels } }) };
}

const fieldRequirements = ({ requirements }: FieldSelector): JsonObject[] =>
  requirements.map(({ field, operator, value }) => ({ key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] }));

const LABEL_OPERATORS: Partial<Record<LabelOperator, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** What reviews have no word for is left out, which asks for more than was meant, never for less. */
const labelRequirements = ({ requirements }: LabelSelector): JsonObject[] =>
  requirements.flatMap(({ key, operator, values }) => {
    const word = LABEL_OPERATORS[operator];
    return word === undefined ? [] : [{ key, operator: word, ...(values.length > 0 && { values: [...values] }) }];
  });
