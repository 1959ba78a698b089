import type { MatchResources, NamedRuleWithOperations } from '../../apis/facts/types/admissionregistration-v1.ts';
import { parsedSelector } from '../../apis/validation/label-selector.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { type LabelSelector, EVERYTHING } from '../../util/label-selector.ts';
import type { View, Views } from '../webhooks/view.ts';

/** What matching asks beside the attributes. */
export interface MatchFacts {
  readonly attributes: AdmissionAttributes;
  readonly views: Views;
  /** Labels of the namespace that the request is in; throws where there is none. */
  namespaceLabels(): Record<string, string> | undefined;
}

/** Which requests a policy or binding is about (apiserver/pkg/admission/plugin/policy/matching). */
export class ResourceMatcher {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly #excluded: readonly NamedRuleWithOperations[];
  readonly #namespaces: LabelSelector;
  readonly #objects: LabelSelector;
  readonly #matchesEquivalents: boolean;

  constructor({ resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector, matchPolicy }: MatchResources) {
    this.rules = resourceRules;
    this.#excluded = excludeResourceRules;
    this.#namespaces = parsedSelector(namespaceSelector ?? {}) ?? EVERYTHING;
    this.#objects = parsedSelector(objectSelector ?? {}) ?? EVERYTHING;
    this.#matchesEquivalents = matchPolicy !== undefined && matchPolicy !== 'Exact';
  }

  /** How the request's objects are to be shown; undefined where it is none of those. Cheap questions come first. */
  match(facts: MatchFacts): View | undefined {
    const matched = this.rules.length === 0 ? facts.views.requested : this.#matchRules(this.rules, facts);
    if (!matched || (this.#excluded.length > 0 && this.#matchRules(this.#excluded, facts))) return undefined;
    return this.#matchesObject(facts.attributes) && this.#matchesNamespace(facts) ? matched : undefined;
  }

  #matchRules(rules: readonly NamedRuleWithOperations[], { attributes, views }: MatchFacts): View | undefined {
    const candidates = rules.filter((rule) => mayMatch(rule, attributes));
    if (candidates.length === 0) return undefined;
    if (candidates.some((rule) => namesVersion(rule, views.requested))) return views.requested;
    if (!this.#matchesEquivalents) return undefined;
    for (const rule of candidates) {
      const found = views.equivalents.find((view) => namesVersion(rule, view));
      if (found) return found;
    }
    return undefined;
  }

  #matchesObject({ object, oldObject }: AdmissionAttributes): boolean {
    if (this.#objects.isEmpty) return true;
    return [object, oldObject].some((one) => one?.metadata !== undefined && this.#objects.matches(one.metadata.labels));
  }

  #matchesNamespace(facts: MatchFacts): boolean {
    const { attributes } = facts;
    if (this.#namespaces.isEmpty || (attributes.namespace === '' && attributes.resource !== 'namespaces')) return true;
    return this.#namespaces.matches(facts.namespaceLabels());
  }
}

const includes = (items: readonly string[] | undefined, wanted: string): boolean => items !== undefined && (items.includes('*') || items.includes(wanted));

const namesVersion = ({ apiGroups, apiVersions }: NamedRuleWithOperations, { group, version }: View): boolean =>
  includes(apiGroups, group) && includes(apiVersions, version);

/** All but the group and version. */
function mayMatch({ operations, resources = [], resourceNames = [], scope = '*' }: NamedRuleWithOperations, attributes: AdmissionAttributes): boolean {
  return (
    resources.some((resource) => namesResource(resource, attributes)) &&
    includes(operations, attributes.operation) &&
    isInScope(scope, attributes) &&
    (resourceNames.length === 0 || resourceNames.includes(attributes.name))
  );
}

function namesResource(rule: string, { resource, subresource }: AdmissionAttributes): boolean {
  const slash = rule.indexOf('/');
  const [wanted, part] = slash === -1 ? [rule, ''] : [rule.slice(0, slash), rule.slice(slash + 1)];
  return (wanted === '*' || wanted === resource) && (part === '*' || part === subresource);
}

/** A namespace is in none. */
function isInScope(scope: string, { group, resource, namespace }: AdmissionAttributes): boolean {
  if (scope === '*') return true;
  const isNamespaced = namespace !== '' && !(group === '' && resource === 'namespaces');
  return scope === (isNamespaced ? 'Namespaced' : 'Cluster');
}
