import type { FlowStats } from './metrics.ts';
import type { PriorityLevel } from './priority-level.ts';

/** Requests that count as one party: of one FlowSchema and, where it distinguishes, of one user or namespace. */
export interface Flow {
  readonly schema: { readonly name: string; readonly uid: string };
  readonly level: PriorityLevel;
  readonly distinguisher: string;
  /** Indexes of the queues that its requests may join; empty where the level has no queues. */
  readonly hand: readonly number[];
  readonly stats: FlowStats;
  /** The number of the turn in which a request of it was begun last. */
  lastTurn: number;
}
