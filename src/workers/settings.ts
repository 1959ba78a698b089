/** Holds `WorkerSettings` as JSON. Taken out of the environment by the worker, so that nothing it starts inherits it. */
export const WORKER_VARIABLE = 'BINNACLE_WORKER';

/** What the primary tells a worker process (`--workers`) when it starts. */
export interface WorkerSettings {
  /** From 0. The first one runs what may run only once: the controllers. */
  index: number;
  count: number;
  /** Of this start of the server: workers are one server to others on the same store. */
  instanceId: string;
  /** Where the primary serves the store; undefined where the store is an etcd that workers reach themselves. */
  storeUrl: string | undefined;
  /** Where the primary writes the store's newest revision (revision-file.ts), beside `storeUrl`. */
  revisionPath: string | undefined;
  /** Of the port that the primary listens on, and whose connections it hands over. */
  address: { host: string; port: number };
}

/** Of one process. */
export interface PrintedMetrics {
  /** Undefined of the primary. */
  worker?: number;
  text: string;
}

/** What a worker tells the primary. */
export type WorkerMessage =
  /** It takes connections from now on. */
  | { type: 'ready'; url: string }
  /** It has the connection that it was handed, and has not read from it yet. */
  | { type: 'taken' }
  /** It takes no more connections, and has not taken what it was handed last, unless it has said so. */
  | { type: 'leave' }
  /** What all processes have counted is wanted; answered by `gathered`. */
  | { type: 'gather'; id: number }
  | { type: 'printed'; id: number; text: string }
  /** All processes are to count anew. */
  | { type: 'reset' }
  /** A line of the audit log, which has one writer; answered by `audited`. */
  | { type: 'audit'; id: number; line: string }
  /** A part of a long one, each byte as a character; its `audit` has no more of it. */
  | { type: 'audit-part'; id: number; bytes: string }
  /** Seats of priority and fairness that its requests have or wait for. */
  | { type: 'demand'; seats: number };

/** What the primary tells a worker that runs. */
export type PrimaryMessage =
  /** With a socket. Answered by `taken` or `leave`. */
  | { type: 'connection' }
  | { type: 'print'; id: number }
  | { type: 'reset' }
  | { type: 'gathered'; id: number; metrics: readonly PrintedMetrics[] }
  /** The line is in the log, or `error` says why not. */
  | { type: 'audited'; id: number; error?: string }
  /** Its part of all seats, between 0 and 1. */
  | { type: 'share'; share: number };

/** Undefined in a process that is no worker. Answers once. */
export function takeWorkerSettings(environment: NodeJS.ProcessEnv = process.env): WorkerSettings | undefined {
  const text = environment[WORKER_VARIABLE];
  if (text === undefined) return undefined;
  delete environment[WORKER_VARIABLE];
  return JSON.parse(text) as WorkerSettings;
}
