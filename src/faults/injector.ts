import type { RequestInfo } from '../endpoints/request.ts';
import { type FaultRule, faultRuleError } from './rule.ts';
import type { IncomingRequest } from '../server/server-request.ts';
import { SeededRandom } from '../util/seeded-random.ts';

/** A fault that a request met. */
export interface InjectedFault {
  readonly rule: FaultRule;
  readonly at: Date;
  readonly verb: string;
  /** `pods`, `deployments.apps`, `pods/status` */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
}

/** A rule that is in force. */
export interface AddedFault {
  /** How many requests have met it. */
  readonly count: number;
  /** Ends it. Requests that it has met already are not changed. */
  remove(): void;
}

/** The rules of a server, in the order in which they were added: the first that matches is the one that happens. */
export interface Faults {
  add(rule: FaultRule): AddedFault;
  /** Removes all rules; the record stays. */
  clear(): void;
  /** What has happened, the newest last; the last ten thousand. */
  readonly injected: readonly InjectedFault[];
}

const RECORD_LIMIT = 10_000;
/** Each request is compared with all of them. */
const MAX_RULES = 1_000;

/** What a request meets. */
export interface TakenFault {
  readonly rule: FaultRule;
  /** With `read: 'stale'`: the revision as of which it is answered. */
  readonly asOf: number;
}

export class FaultInjector implements Faults {
  readonly injected: InjectedFault[] = [];
  readonly #rules = new Set<RunningRule>();
  readonly #onInjected: ((fault: InjectedFault) => void) | undefined;
  #revision = (): number => 0;

  constructor(onInjected?: (fault: InjectedFault) => void) {
    this.#onInjected = onInjected;
  }

  /** Where the revision of the server's store can be read; rules that are added before are about the state that their first request meets. */
  followRevision(revision: () => number): void {
    this.#revision = revision;
  }

  add(rule: FaultRule): AddedFault {
    const error = faultRuleError(rule);
    if (error !== undefined) throw new TypeError(`a fault rule is wrong: ${error}`);
    if (this.#rules.size >= MAX_RULES) throw new RangeError(`there are ${MAX_RULES} fault rules already`);
    const running = new RunningRule(rule, this.#revision());
    this.#rules.add(running);
    return {
      get count() {
        return running.count;
      },
      remove: () => void this.#rules.delete(running),
    };
  }

  clear(): void {
    this.#rules.clear();
  }

  /** The rule that this request meets, counted and recorded. */
  take(request: IncomingRequest): TakenFault | undefined {
    const { info, user } = request;
    if (this.#rules.size === 0 || !info.isResourceRequest) return undefined;
    const resource = resourceOf(info);
    for (const running of this.#rules) {
      if (running.rule.read !== undefined && !isReadAtHand(request)) continue;
      if (!running.takes(info, resource, user.name)) continue;
      if (running.isSpent) this.#rules.delete(running);
      this.#record({ rule: running.rule, at: new Date(), verb: info.verb, resource, namespace: info.namespace, name: info.name, user: user.name });
      running.asOf ||= this.#revision();
      return running;
    }
    return undefined;
  }

  #record(fault: InjectedFault): void {
    this.injected.push(fault);
    // In one piece, now and then: to shift each time would cost as much as the list is long.
    if (this.injected.length >= 2 * RECORD_LIMIT) this.injected.splice(0, RECORD_LIMIT);
    this.#onInjected?.(fault);
  }
}

/** Whether it takes what is at hand, whatever its age. */
const isReadAtHand = ({ info, query }: IncomingRequest): boolean => {
  const isRead = (info.verb === 'get' && info.subresource === '') || info.verb === 'list';
  return isRead && query.get('resourceVersion') === '0' && query.get('resourceVersionMatch') !== 'Exact';
};

/** `deployments.apps/scale`: as in messages, with the subresource. */
export const resourceOf = ({ resource, apiGroup, subresource }: RequestInfo): string =>
  `${resource}${apiGroup === '' ? '' : `.${apiGroup}`}${subresource === '' ? '' : `/${subresource}`}`;

class RunningRule implements TakenFault {
  readonly rule: FaultRule;
  count = 0;
  asOf: number;
  readonly #random: SeededRandom;

  constructor(rule: FaultRule, asOf: number) {
    this.rule = rule;
    this.asOf = asOf;
    this.#random = new SeededRandom(rule.seed ?? 1);
  }

  get isSpent(): boolean {
    return this.rule.times !== undefined && this.count >= this.rule.times;
  }

  takes({ verb, namespace, name }: RequestInfo, resource: string, user: string): boolean {
    const { match = {}, watch, probability = 1 } = this.rule;
    if (this.isSpent || (watch !== undefined && verb !== 'watch')) return false;
    const fits = (allowed: readonly string[] | undefined, value: string): boolean => allowed === undefined || allowed.includes(value);
    const isMatch =
      fits(match.verbs, verb) && fits(match.resources, resource) && fits(match.namespaces, namespace) && fits(match.names, name) && fits(match.users, user);
    if (!isMatch || this.#random.next() >= probability) return false;
    this.count++;
    return true;
  }
}
