import type { RunningRequest } from '../server/running-request.ts';

/**
 * What a supervised server and its supervisor tell each other. The supervisor starts the server with `SETTINGS_VARIABLE` in its environment; from then on
 * the server's watchdog thread writes one JSON object a line to file descriptor `REPORT_FD`. It is a thread of its own that writes, with synchronous calls, so
 * that lines leave while the main thread is busy.
 */

/** File descriptor of the server's end of the pipe. */
export const REPORT_FD = 3;
/** Holds `WatchdogSettings` as JSON. Taken out of the environment by the server, so that nothing it starts inherits it. */
export const SETTINGS_VARIABLE = 'BINNACLE_SUPERVISED';

export interface WatchdogSettings {
  /** How long the event loop may stand still before the watchdog reports where it stands. */
  stallReportAfterMs: number;
  /** Fingerprints of requests that the server refuses (src/server/running-request.ts). */
  refusedFingerprints: readonly string[];
}

export interface StallReport {
  /** How long the event loop had stood still when the stack was taken. */
  stalledMs: number;
  /** Innermost frame first: `function (file:line:column)`. Empty where the thread is in native code that does not return. */
  stack: readonly string[];
  /** Undefined where no frame of the stack works for a request: a controller, a timer. */
  request: RunningRequest | undefined;
}

export type WatchdogMessage =
  | { type: 'alive'; rssBytes: number }
  | { type: 'stalled'; report: StallReport }
  /** The event loop turns again; `stalledMs` is the whole time that it stood. */
  | { type: 'recovered'; stalledMs: number };

export const encodeMessage = (message: WatchdogMessage): string => `${JSON.stringify(message)}\n`;

/** A reader of the lines that a pipe brings in pieces. A line that is no message, or is longer than a message can be, is passed over. */
export function messageReader(onMessage: (message: WatchdogMessage) => void): (piece: string) => void {
  let held = '';
  return (piece) => {
    const lines = (held + piece).split('\n');
    held = lines.pop()!;
    if (held.length > MAX_LINE_LENGTH) held = '';
    for (const line of lines) {
      const message = parseMessage(line);
      if (message) onMessage(message);
    }
  };
}

const MAX_LINE_LENGTH = 1 << 20;

function parseMessage(line: string): WatchdogMessage | undefined {
  try {
    return JSON.parse(line) as WatchdogMessage;
  } catch {
    return undefined;
  }
}
