import type { IncomingRequest } from './server-request.ts';

/** Decides which requests are served now, later or not: what the priority-and-fairness filter asks. */
export interface FlowControl {
  /** Synchronous: a request that finds a seat costs no promise. */
  arrive(request: IncomingRequest): QueuedRequest;
  /** A watch begins, and will make writes costlier. Returns the way to say that it has ended. */
  trackWatch(request: IncomingRequest): () => void;
  /** Does this in one of the next turns of the event loop, when those who wait have had theirs. It must not throw. */
  putOff(work: () => void): void;
}

/** One request's place. */
export interface QueuedRequest {
  /** Becomes `executing` or `rejected` if it is `waiting`; `onDecision` tells. */
  readonly state: 'waiting' | 'executing' | 'rejected' | 'over';
  readonly flowSchemaUid: string;
  readonly priorityLevelUid: string;
  /** For those that are rejected. */
  readonly retryAfterSeconds: number;
  /** Set by the filter while it waits. The request is executed inside of the call. */
  onDecision: ((isExecuting: boolean) => void) | undefined;
  /** The client has gone. */
  cancel(): void;
  /** The request was served; of a watch: has begun. Later calls do nothing. `isAtOnce`: it kept the thread from its start until now. */
  finish(isAtOnce: boolean): void;
}
