import type { RuleWithOperations } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Client, Informer } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { notFound } from '../../api/errors.ts';
import type { Webhook } from './configuration.ts';
import type { AdmissionView, Views } from './view.ts';

/** A webhook that a write concerns, and the version in which it wants to see it. */
export interface Invocation {
  webhook: Webhook;
  /** Of the webhook among all that are configured. */
  index: number;
  view: AdmissionView;
}

const CONFIGURATION_KINDS = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/** Nobody may lock the door from which the key is taken (predicates/rules IsExemptAdmissionConfigurationResource). */
export const isAdmissionConfiguration = ({ group, resource }: AdmissionAttributes): boolean =>
  group === 'admissionregistration.k8s.io' && CONFIGURATION_KINDS.has(resource);

const isNamespace = ({ group, resource }: AdmissionAttributes): boolean => group === '' && resource === 'namespaces';

/** Requests for a namespace itself are in it. */
export const namespaceOfWrite = (attributes: AdmissionAttributes): string =>
  isNamespace(attributes) ? attributes.name || (attributes.object?.metadata.name ?? '') : attributes.namespace;

/** By rules alone, which look at no object: the version that the client speaks first, then the others, where the webhook takes equivalents. */
export function viewFor({ spec: { rules = [], matchPolicy } }: Webhook, attributes: AdmissionAttributes, views: Views): AdmissionView | undefined {
  const { requested, equivalents } = views;
  if (rules.some((rule) => ruleMatches(rule, attributes, requested))) return requested;
  if (matchPolicy !== 'Equivalent') return undefined;
  for (const rule of rules) {
    const found = equivalents.find((view) => ruleMatches(rule, attributes, view));
    if (found) return found;
  }
  return undefined;
}

function ruleMatches(
  { operations, apiGroups, apiVersions, resources = [], scope = '*' }: RuleWithOperations,
  attributes: AdmissionAttributes,
  { group, version }: AdmissionView,
): boolean {
  return (
    includes(operations, attributes.operation) &&
    includes(apiGroups, group) &&
    includes(apiVersions, version) &&
    resources.some((resource) => resourceMatches(resource, attributes)) &&
    scopeMatches(scope, attributes)
  );
}

const includes = (items: readonly string[] = [], wanted: string): boolean => items.includes('*') || items.includes(wanted);

/** A resource, with or without a subresource; a star stands for any of either. */
function resourceMatches(text: string, attributes: AdmissionAttributes): boolean {
  const [resource, subresource = ''] = text.split('/', 2);
  return (resource === '*' || resource === attributes.resource) && (subresource === '*' || subresource === attributes.subresource);
}

function scopeMatches(scope: string, attributes: AdmissionAttributes): boolean {
  if (scope === '*') return true;
  const isNamespaced = attributes.namespace !== '' && !isNamespace(attributes);
  return (scope === 'Namespaced') === isNamespaced;
}

/** Whether the labels of an object and of its namespace are those that a webhook asks for. */
export class SelectorMatcher {
  readonly #namespaces: Informer;

  constructor(client: Client) {
    this.#namespaces = client.resource('', 'namespaces').informer;
  }

  /** Throws NotFound where the namespace must be looked at and is missing. */
  matches({ namespaces, objects }: Webhook, attributes: AdmissionAttributes, object: ApiObject | undefined): boolean {
    const { oldObject } = attributes;
    const areObjectsRight =
      objects.isEmpty || [object, oldObject].some((candidate) => candidate?.metadata !== undefined && objects.matches(candidate.metadata.labels));
    if (!areObjectsRight) return false;
    // What has no namespace is never let off.
    const isClusterWide = attributes.namespace === '' && attributes.resource !== 'namespaces';
    return isClusterWide || namespaces.isEmpty || namespaces.matches(this.#namespaceLabels(attributes, object));
  }

  #namespaceLabels(attributes: AdmissionAttributes, object: ApiObject | undefined): Record<string, string> | undefined {
    const { operation, subresource } = attributes;
    if (attributes.resource === 'namespaces' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata.labels;
    const name = namespaceOfWrite(attributes);
    const found = this.#namespaces.get('', name);
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, name);
    return found.metadata.labels;
  }
}
