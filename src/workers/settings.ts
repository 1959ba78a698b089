/** Holds `WorkerSettings` as JSON. Taken out of the environment by the worker, so that nothing it starts inherits it. */
export const WORKER_VARIABLE = 'BINNACLE_WORKER';

/** What the primary tells a worker process (`--workers`). */
export interface WorkerSettings {
  /** From 0. The first one runs what may run only once: the controllers. */
  index: number;
  count: number;
  /** Where the primary serves the store; undefined where the store is an etcd that workers reach themselves. */
  storeUrl: string | undefined;
}

/** What a worker tells the primary. */
export type WorkerMessage = { type: 'ready'; url: string };

/** Undefined in a process that is no worker. Answers once. */
export function takeWorkerSettings(environment: NodeJS.ProcessEnv = process.env): WorkerSettings | undefined {
  const text = environment[WORKER_VARIABLE];
  if (text === undefined) return undefined;
  delete environment[WORKER_VARIABLE];
  return JSON.parse(text) as WorkerSettings;
}
