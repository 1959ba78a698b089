import type { AuditBackend, AuditObserver } from './backend.ts';
import { type LogLine, encodeEvent } from './encode-event.ts';
import type { AuditEvent } from './event.ts';
import { legacyLine } from './legacy-line.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

/** Where lines go; throws where they cannot. */
export interface LineWriter {
  write(line: LogLine): void;
  close(): Promise<void>;
}

export type LogFormat = 'json' | 'legacy';

const FORMATS: Readonly<Record<LogFormat, (event: AuditEvent) => LogLine>> = { json: encodeEvent, legacy: legacyLine };

/** One line an event (apiserver/plugin/pkg/audit/log). */
export function logBackend(writer: LineWriter, format: LogFormat, observer: AuditObserver): AuditBackend {
  const lineOf = FORMATS[format];
  const log = (event: AuditEvent): boolean => {
    try {
      writer.write(lineOf(event));
      return true;
    } catch (error) {
      observer.onError('log', (error as Error).message, [event]);
      return false;
    }
  };
  return {
    process(events) {
      let isStored = true;
      for (const event of events) isStored = log(event) && isStored;
      return isStored;
    },
    close: () => writer.close(),
  };
}

/** `--audit-log-path`: a file, or `-` for standard output. */
export const openLog = (path: string, rotation: RotationOptions): LineWriter => (path === '-' ? standardOutput() : new RotatingFile(path, rotation));

/** Pipes, files and terminals are written to at once; a reader that has gone fails the lines after it, and not the process. */
function standardOutput(): LineWriter {
  let failure: Error | undefined;
  const onFailure = (error: Error): void => void (failure = error);
  process.stdout.on('error', onFailure);
  return {
    write(line) {
      if (failure) throw failure;
      for (const piece of typeof line === 'string' ? [line] : line) process.stdout.write(piece);
    },
    close: () =>
      new Promise((resolve) => {
        process.stdout.write('', () => {
          process.stdout.off('error', onFailure);
          resolve();
        });
      }),
  };
}
