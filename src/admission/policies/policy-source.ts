import type { MatchResources, ParamKind, ParamRef, Variable } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Client } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { KindManifests } from '../manifests/manifests-of.ts';
import { Answers } from '../../util/pending.ts';
import { type SlicedWork, runInSlices } from '../../util/time-slice.ts';
import { LabelIndex } from './label-index.ts';
import { ResourceMatcher } from './matching.ts';

const GROUP = 'admissionregistration.k8s.io';
/** Policies of the API do not evaluate each other, lest one locks out its own repair, nor questions of who may do what. */
const EXEMPT_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io']);
const EXEMPT = new Set(['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings']);

/** What both kinds of policies have. */
export interface AdmissionPolicy extends ApiObject {
  spec: { failurePolicy?: string; matchConstraints?: MatchResources; paramKind?: ParamKind; variables?: Variable[] };
}

export interface PolicyBinding extends ApiObject {
  spec: { policyName?: string; paramRef?: ParamRef; matchResources?: MatchResources };
}

/** A binding, with what it matches; everything where there is no matcher. */
interface BoundPolicy<B extends PolicyBinding> {
  readonly binding: B;
  readonly matcher: ResourceMatcher | undefined;
}

/** A policy that is in force. */
export interface Hook<P extends AdmissionPolicy, B extends PolicyBinding, C> {
  readonly policy: P;
  readonly matcher: ResourceMatcher;
  readonly bindings: readonly BoundPolicy<B>[];
  /** Its expressions: compiled when they are first needed, once for every version of the policy. Throws Pending until they are. */
  compiled(): C;
}

interface Listed<P, B> {
  policies: P[];
  bindings: B[];
}

interface HookIndex<P extends AdmissionPolicy, B extends PolicyBinding, C> {
  readonly byResource: ReadonlyMap<string, LabelIndex<Hook<P, B, C>>>;
  readonly others: LabelIndex<Hook<P, B, C>>;
}

/** The policies that are in force, by the resources that their rules name. Worked out anew when one has changed. */
export class PolicySource<P extends AdmissionPolicy, B extends PolicyBinding, C> {
  readonly synced: Promise<void>;
  isSynced = false;
  readonly #list: () => Listed<P, B>;
  readonly #listStatic: () => Listed<P, B>;
  readonly #compile: (policy: P) => SlicedWork<C>;
  #known = new Map<string, Hook<P, B, C>['compiled']>();
  #index: { all: HookIndex<P, B, C>; ofManifests: HookIndex<P, B, C> } | undefined;

  constructor(
    client: Client,
    policies: string,
    bindings: string,
    compile: (policy: P) => SlicedWork<C>,
    staticPolicies?: KindManifests<P>,
    staticBindings?: KindManifests<B>,
  ) {
    const policyInformer = client.resource<P>(GROUP, policies).informer;
    const bindingInformer = client.resource<B>(GROUP, bindings).informer;
    this.#list = () => ({ policies: policyInformer.list(''), bindings: bindingInformer.list('') });
    this.#listStatic = () => ({ policies: [...(staticPolicies?.list() ?? [])], bindings: [...(staticBindings?.list() ?? [])] });
    this.#compile = compile;
    const forget = (): void => {
      this.#index = undefined;
    };
    staticPolicies?.onChange(forget);
    this.synced = Promise.all([policyInformer.synced, bindingInformer.synced]).then(() => {
      policyInformer.onChange(forget);
      bindingInformer.onChange(forget);
      this.isSynced = true;
    });
    // Requests that wait for it are told; a server that could not start has none.
    this.synced.catch(() => undefined);
  }

  /** Those that are about the request's resource, in the order of their names; undefined where there are none. */
  hooksFor({ group, resource }: AdmissionAttributes): LabelIndex<Hook<P, B, C>> | undefined {
    if (EXEMPT_GROUPS.has(group)) return undefined;
    this.#index ??= this.#makeIndexes();
    // Policies of manifests can not lock out their own repair.
    const { byResource, others } = group === GROUP && EXEMPT.has(resource) ? this.#index.ofManifests : this.#index.all;
    const found = byResource.get(resource) ?? others;
    return found.isEmpty ? undefined : found;
  }

  /** Those of manifests come first. */
  #makeIndexes(): { all: HookIndex<P, B, C>; ofManifests: HookIndex<P, B, C> } {
    const known = new Map<string, Hook<P, B, C>['compiled']>();
    const ofManifests = this.#hooks(this.#listStatic(), known);
    const all = this.#makeIndex([...ofManifests, ...this.#hooks(this.#list(), known)]);
    this.#known = known;
    return { all, ofManifests: this.#makeIndex(ofManifests) };
  }

  #makeIndex(hooks: readonly Hook<P, B, C>[]): HookIndex<P, B, C> {
    const namedBy = new Map(hooks.map((hook) => [hook, namedResources(hook.matcher)]));
    const isAboutAll = (hook: Hook<P, B, C>): boolean => namedBy.get(hook)!.has('*');
    const byResource = new Map<string, Hook<P, B, C>[]>();
    for (const names of namedBy.values()) for (const resource of names) byResource.set(resource, []);
    for (const hook of hooks) for (const resource of isAboutAll(hook) ? byResource.keys() : namedBy.get(hook)!) byResource.get(resource)!.push(hook);
    return {
      byResource: new Map([...byResource].map(([resource, found]) => [resource, new LabelIndex(found)])),
      others: new LabelIndex(hooks.filter(isAboutAll)),
    };
  }

  #hooks({ policies, bindings }: Listed<P, B>, known: Map<string, Hook<P, B, C>['compiled']>): Hook<P, B, C>[] {
    const bound = new Map<string, B[]>();
    for (const binding of bindings.toSorted(byName)) {
      const { policyName = '' } = binding.spec;
      const others = bound.get(policyName);
      if (others) others.push(binding);
      else bound.set(policyName, [binding]);
    }
    return policies
      .toSorted(byName)
      .filter(({ metadata }) => bound.has(metadata.name!))
      .map((policy) => this.#hook(policy, bound.get(policy.metadata.name!)!, known));
  }

  #hook(policy: P, bindings: readonly B[], known: Map<string, Hook<P, B, C>['compiled']>): Hook<P, B, C> {
    const { uid, resourceVersion, name } = policy.metadata;
    // A manifest has neither.
    const key = uid === undefined ? `${name} ${JSON.stringify(policy.spec)}` : `${uid} ${resourceVersion}`;
    const compiled = this.#known.get(key) ?? onceInSlices(() => this.#compile(policy));
    known.set(key, compiled);
    return {
      policy,
      matcher: new ResourceMatcher(policy.spec.matchConstraints ?? {}),
      bindings: bindings.map((binding) => ({ binding, matcher: binding.spec.matchResources && new ResourceMatcher(binding.spec.matchResources) })),
      compiled,
    };
  }
}

function onceInSlices<C>(begin: () => SlicedWork<C>): () => C {
  const made = new Answers<C>();
  return () => made.get('', () => runInSlices(begin()));
}

const byName = (a: ApiObject, b: ApiObject): number => (a.metadata.name! < b.metadata.name! ? -1 : 1);

/** Without their subresources. */
const namedResources = ({ rules }: ResourceMatcher): Set<string> =>
  new Set(rules.length === 0 ? ['*'] : rules.flatMap(({ resources = [] }) => resources.map((resource) => resource.split('/', 1)[0]!)));
