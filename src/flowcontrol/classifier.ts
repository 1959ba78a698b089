import type { RequestInfo } from '../endpoints/request.ts';
import { ownCopy } from '../util/own-copy.ts';
import type { User } from '../api/user.ts';
import { dealHand, hashFlow } from './dealer.ts';
import type { Flow } from './flow.ts';
import type { FlowStats } from './metrics.ts';
import type { FlowSchema, FlowNonResourceRule, FlowSchemaRule, FlowResourceRule, FlowSubject } from './objects.ts';
import type { PriorityLevel } from './priority-level.ts';

/** A FlowSchema whose level exists. */
export interface ActiveSchema {
  readonly object: FlowSchema;
  readonly level: PriorityLevel;
  readonly stats: FlowStats;
}

/** A schema as one user meets it: only with the rules whose subjects include that user. */
interface Candidate {
  readonly schema: ActiveSchema;
  readonly rules: readonly FlowSchemaRule[];
  /** Most users are met by one schema of all: the others have none. */
  flows: Map<string, Flow> | undefined;
}

/** Flows kept of one user and schema; there are as many namespaces as clients care to name. */
const MAX_FLOWS = 1000;

/**
 * Finds a request's flow: the first FlowSchema that matches, by precedence and name. What depends on the user alone is found once a user (as an object:
 * authentication keeps those it knows), so that most requests meet one or two rules. One classifier a configuration.
 */
export class FlowClassifier {
  readonly #schemas: readonly ActiveSchema[];
  readonly #fallback: ActiveSchema;
  readonly #candidates = new WeakMap<User, readonly Candidate[]>();

  /** `fallback` is for requests that no schema matches; nobody writes one that leaves any out but on purpose. */
  constructor(schemas: readonly ActiveSchema[], fallback: ActiveSchema) {
    this.#schemas = schemas.toSorted((a, b) => a.object.spec.matchingPrecedence - b.object.spec.matchingPrecedence || compare(nameOf(a), nameOf(b)));
    this.#fallback = fallback;
  }

  flowOf(user: User, info: RequestInfo): Flow {
    let candidates = this.#candidates.get(user);
    if (candidates === undefined) this.#candidates.set(user, (candidates = this.#candidatesOf(user)));
    for (const candidate of candidates) {
      for (const rule of candidate.rules) if (matches(rule, info)) return flowIn(candidate, user, info);
    }
    return flowIn(candidates.at(-1)!, user, info);
  }

  /** The fallback comes last, without rules. */
  #candidatesOf(user: User): Candidate[] {
    const candidates: Candidate[] = [];
    for (const schema of this.#schemas) {
      const all = schema.object.spec.rules ?? [];
      const rules = all.filter(({ subjects }) => subjects?.some((subject) => includes(subject, user)));
      if (rules.length > 0) candidates.push(candidateOf(schema, rules.length === all.length ? all : rules));
    }
    candidates.push(candidateOf(this.#fallback, NO_RULES));
    return candidates;
  }
}

const candidateOf = (schema: ActiveSchema, rules: readonly FlowSchemaRule[]): Candidate => ({ schema, rules, flows: undefined });
const NO_RULES: readonly FlowSchemaRule[] = [];
const nameOf = ({ object }: ActiveSchema): string => object.metadata.name!;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function flowIn(candidate: Candidate, user: User, info: RequestInfo): Flow {
  const { schema } = candidate;
  const flows = (candidate.flows ??= new Map<string, Flow>());
  const distinguisher = distinguisherOf(schema, user, info);
  let flow = flows.get(distinguisher);
  if (flow !== undefined) return flow;
  if (flows.size >= MAX_FLOWS) flows.clear();
  flow = createFlow(schema, ownCopy(distinguisher));
  flows.set(flow.distinguisher, flow);
  return flow;
}

/** What tells the flows of a schema apart; of no account where there is but one queue. */
function distinguisherOf({ object, level }: ActiveSchema, user: User, info: RequestInfo): string {
  if ((level.queuing?.queues ?? 0) <= 1) return '';
  switch (object.spec.distinguisherMethod?.type) {
    case 'ByUser':
      return user.name;
    case 'ByNamespace':
      return info.namespace;
    default:
      return '';
  }
}

function createFlow({ object, level, stats }: ActiveSchema, distinguisher: string): Flow {
  const { name = '', uid = '' } = object.metadata;
  const { queuing } = level;
  const hash = queuing !== undefined && queuing.queues > 1 ? hashFlow(name, distinguisher) : 0n;
  const hand = queuing === undefined ? [] : dealHand(hash, queuing.queues, queuing.handSize);
  return { schema: { name, uid }, level, distinguisher, hand, stats, lastTurn: 0 };
}

function includes({ kind, user, group, serviceAccount }: FlowSubject, who: User): boolean {
  switch (kind) {
    case 'User':
      return user !== undefined && (user.name === '*' || user.name === who.name);
    case 'Group':
      return group !== undefined && (group.name === '*' || who.groups.includes(group.name));
    case 'ServiceAccount':
      return serviceAccount !== undefined && isServiceAccount(serviceAccount, who.name);
    default:
      return false;
  }
}

function isServiceAccount({ namespace, name }: { namespace: string; name: string }, userName: string): boolean {
  const prefix = `system:serviceaccount:${namespace}:`;
  return name === '*' ? userName.startsWith(prefix) : userName === `${prefix}${name}`;
}

function matches({ resourceRules, nonResourceRules }: FlowSchemaRule, info: RequestInfo): boolean {
  if (info.isResourceRequest) return resourceRules?.some((rule) => matchesResource(rule, info)) ?? false;
  return nonResourceRules?.some((rule) => matchesPath(rule, info)) ?? false;
}

function matchesResource({ verbs, apiGroups, resources, clusterScope, namespaces }: FlowResourceRule, info: RequestInfo): boolean {
  if (!has(verbs, info.verb) || !has(apiGroups, info.apiGroup) || !hasResource(resources, info)) return false;
  return info.namespace === '' ? clusterScope === true : has(namespaces, info.namespace);
}

function hasResource(resources: readonly string[] | null, { resource, subresource }: RequestInfo): boolean {
  return isEverything(resources) || (resources?.includes(subresource === '' ? resource : `${resource}/${subresource}`) ?? false);
}

/** A path of a rule covers what lies below it, whether or not it ends in a star (apiserver/pkg/util/flowcontrol/rule.go). */
function matchesPath({ verbs, nonResourceURLs }: FlowNonResourceRule, { verb, path }: RequestInfo): boolean {
  if (!has(verbs, verb)) return false;
  return nonResourceURLs?.some((url) => url === '*' || url === path || path.startsWith(asFolder(url))) ?? false;
}

function asFolder(url: string): string {
  const prefix = url.endsWith('*') ? url.slice(0, -1) : url;
  return prefix.endsWith('/') ? prefix : `${prefix}/`;
}

/** Validation lets a star only stand alone. */
const isEverything = (list: readonly string[] | null): boolean => list?.length === 1 && list[0] === '*';
const has = (list: readonly string[] | null, value: string): boolean => isEverything(list) || (list?.includes(value) ?? false);
