export interface LinkedSignal {
  signal: AbortSignal;
  /** To be called when nobody waits for it any more. */
  release(): void;
}

/**
 * A signal that aborts when one of its sources does. AbortSignal.any leaves something behind in a source for as long as that lives (nodejs/node#54614, still so in
 * Node 20), and some of ours live as long as the process.
 */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const release = (): void => {
    for (const source of sources) source.removeEventListener('abort', onAbort);
  };
  const onAbort = (event: Event): void => {
    release();
    controller.abort((event.target as AbortSignal).reason);
  };
  const aborted = sources.find((source) => source.aborted);
  if (aborted) controller.abort(aborted.reason);
  else for (const source of sources) source.addEventListener('abort', onAbort);
  return { signal: controller.signal, release };
}
