/** Resolves after a while, or as soon as the signal is aborted. Keeps no process alive. */
export function delay(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    timer.unref();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
