import { onAbort } from './on-abort.ts';

export interface LinkedSignal {
  signal: AbortSignal;
  /** To be called when nobody waits for it any more. */
  release(): void;
}

/**
 * A signal that aborts when one of its sources does. AbortSignal.any leaves something behind in a source for as long as that lives (nodejs/node#54614, still so in
 * Node 20), and some of ours live as long as the process; what listens to its signals is never collected at all, whether or not it has aborted.
 */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const stops: (() => void)[] = [];
  const release = (): void => {
    for (const stop of stops) stop();
  };
  for (const source of sources) {
    const abort = (): void => {
      release();
      controller.abort(source.reason);
    };
    stops.push(onAbort(source, abort));
    if (controller.signal.aborted) break;
  }
  if (controller.signal.aborted) release();
  return { signal: controller.signal, release };
}
