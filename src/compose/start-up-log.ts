import type { Logger } from './logger.ts';

/** Says at `--v=1` when each phase of a start is over, and how long it took. */
export function startUpLog(logger: Logger, now: () => number = performance.now.bind(performance)): (phase: string) => void {
  let beganMs = now();
  return (phase) => {
    const endMs = now();
    logger.verbose(1, 'Start-up phase is over', { phase, durationMs: Math.round(endMs - beganMs) });
    beganMs = endMs;
  };
}
