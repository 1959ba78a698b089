import type { AuditEvent, AuditLevel } from './event.ts';

/** Where events go. */
export interface AuditBackend {
  /**
   * Takes the events over. False: they were lost, and the request that they tell of is to be refused. Never throws or rejects: what went wrong is
   * told to the observer.
   */
  process(events: readonly AuditEvent[]): boolean | Promise<boolean>;
  /** Resolves when all that was taken over is where it should be, or is lost. */
  close(): Promise<void>;
}

/** Counts, and tells the log (apiserver/pkg/audit/metrics.go). */
export interface AuditObserver {
  onLevel(level: AuditLevel): void;
  onEvent(): void;
  /** `plugin`: log, webhook, buffered or truncate. `events` are lost. */
  onError(plugin: string, error: string, events: readonly AuditEvent[]): void;
}

/** All of them get every event, one after the other where they take their time. */
export function unionOfBackends(backends: readonly AuditBackend[]): AuditBackend {
  if (backends.length === 1) return backends[0]!;
  return {
    process: (events) => inTurn(backends.map((backend) => () => backend.process(events))),
    close: async () => {
      for (const backend of backends) await backend.close();
    },
  };
}

/** Takes every step, whatever the ones before it answered, and waits only where one does. */
export function inTurn(steps: readonly (() => boolean | Promise<boolean>)[]): boolean | Promise<boolean> {
  let isStored = true;
  for (const [index, step] of steps.entries()) {
    const stored = step();
    if (stored instanceof Promise) return stored.then(async (isThisStored) => (await inTurn(steps.slice(index + 1))) && isThisStored && isStored);
    isStored &&= stored;
  }
  return isStored;
}

/** `blocking`: requests wait for their events, but do not suffer for their loss. */
export function ignoringErrors(backend: AuditBackend): AuditBackend {
  return {
    process(events) {
      const stored = backend.process(events);
      return stored instanceof Promise ? stored.then(() => true) : true;
    },
    close: () => backend.close(),
  };
}
