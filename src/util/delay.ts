import { onAbort } from './on-abort.ts';

/** Resolves after a while, or as soon as the signal is aborted. Keeps no process alive. */
export function delay(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(() => {
      stopWaiting();
      resolve();
    }, durationMs);
    timer.unref();
    const stopWaiting = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
