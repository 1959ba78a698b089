import type { FaultRule } from './rule.ts';

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
