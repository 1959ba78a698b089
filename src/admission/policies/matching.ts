import type { MatchResources, NamedRuleWithOperations } from '../../apis/facts/types/admissionregistration-v1.ts';
import { parsedSelector } from '../../apis/validation/label-selector.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { type LabelSelector, EVERY_LABEL } from '../../api/label-selector.ts';
import type { AdmissionView, Views } from '../webhooks/view.ts';

/** What matching asks beside the attributes. */
export interface MatchFacts {
  readonly attributes: AdmissionAttributes;
  readonly views: Views;
  /** The request is about something that is in no namespace, and is none: selectors of namespaces do not count. */
  readonly isClusterWide: boolean;
  /** Labels of the namespace that the request is in, or that there is none. */
  namespace(): { labels: Record<string, string> | undefined } | Error;
}

/** Which requests a policy or binding is about (apiserver/pkg/admission/plugin/policy/matching). */
export class ResourceMatcher {
  readonly rules: readonly NamedRuleWithOperations[];
  readonly #excluded: readonly NamedRuleWithOperations[];
  readonly namespaces: LabelSelector;
  readonly objects: LabelSelector;
  readonly #matchesEquivalents: boolean;
  /** Of all rules; undefined for any. */
  readonly #operations: ReadonlySet<string> | undefined;

  constructor({ resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector, matchPolicy }: MatchResources) {
    this.rules = resourceRules;
    this.#excluded = excludeResourceRules;
    this.namespaces = parsedSelector(namespaceSelector ?? {}) ?? EVERY_LABEL;
    this.objects = parsedSelector(objectSelector ?? {}) ?? EVERY_LABEL;
    this.#matchesEquivalents = matchPolicy !== undefined && matchPolicy !== 'Exact';
    const operations = new Set(resourceRules.flatMap((rule) => rule.operations ?? []));
    this.#operations = resourceRules.length === 0 || operations.has('*') ? undefined : operations;
  }

  /** A quick no for most requests: hundreds of policies may be asked about each. */
  mayMatch(facts: MatchFacts): boolean {
    if (this.#operations && !this.#operations.has(facts.attributes.operation)) return false;
    return this.#matchesObject(facts.attributes) && this.#matchesNamespace(facts) !== false;
  }

  /** How the request's objects are to be shown; undefined where it is none of those. Throws where the namespace is to be looked at and missing. */
  match(facts: MatchFacts): AdmissionView | undefined {
    const matched = this.rules.length === 0 ? facts.views.requested : this.#matchRules(this.rules, facts);
    if (!matched || (this.#excluded.length > 0 && this.#matchRules(this.#excluded, facts))) return undefined;
    if (!this.#matchesObject(facts.attributes)) return undefined;
    const isInNamespace = this.#matchesNamespace(facts);
    if (typeof isInNamespace !== 'boolean') throw isInNamespace;
    return isInNamespace ? matched : undefined;
  }

  #matchRules(rules: readonly NamedRuleWithOperations[], { attributes, views }: MatchFacts): AdmissionView | undefined {
    const candidates = rules.filter((rule) => ruleNames(rule, attributes));
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
    return this.objects.isEmpty || this.#isSelected(object) || this.#isSelected(oldObject);
  }

  #isSelected(object: ApiObject | undefined): boolean {
    return object?.metadata !== undefined && this.objects.matches(object.metadata.labels);
  }

  #matchesNamespace(facts: MatchFacts): boolean | Error {
    if (this.namespaces.isEmpty || facts.isClusterWide) return true;
    const found = facts.namespace();
    return found instanceof Error ? found : this.namespaces.matches(found.labels);
  }
}

const includes = (items: readonly string[] | undefined, wanted: string): boolean => items !== undefined && (items.includes('*') || items.includes(wanted));

const namesVersion = ({ apiGroups, apiVersions }: NamedRuleWithOperations, { group, version }: AdmissionView): boolean =>
  includes(apiGroups, group) && includes(apiVersions, version);

/** All but the group and version. */
function ruleNames({ operations, resources = [], resourceNames = [], scope = '*' }: NamedRuleWithOperations, attributes: AdmissionAttributes): boolean {
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
