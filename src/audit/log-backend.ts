import { nextTurn } from '../util/time-slice.ts';
import { type AuditBackend, type AuditObserver, inTurn } from './backend.ts';
import { type LogLine, encodeEvent } from './encode-event.ts';
import type { AuditEvent } from './event.ts';
import { legacyLine } from './legacy-line.ts';
import { LineQueue } from './line-queue.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';

/** Where lines go, in the order in which they come. */
export interface LineWriter {
  /** Throws or rejects where the line cannot be written. A long one is written while others are served. */
  write(line: LogLine): Promise<void> | void;
  close(): Promise<void>;
}

export type LogFormat = 'json' | 'legacy';

const FORMATS: Readonly<Record<LogFormat, (event: AuditEvent) => LogLine>> = { json: encodeEvent, legacy: legacyLine };

/** One line an event (apiserver/plugin/pkg/audit/log). */
export function logBackend(writer: LineWriter, format: LogFormat, observer: AuditObserver): AuditBackend {
  const lineOf = FORMATS[format];
  const log = (event: AuditEvent): boolean | Promise<boolean> => {
    const fail = (error: unknown): boolean => {
      observer.onError('log', (error as Error).message, [event]);
      return false;
    };
    try {
      const written = writer.write(lineOf(event));
      return written instanceof Promise ? written.then(() => true, fail) : true;
    } catch (error) {
      return fail(error);
    }
  };
  return {
    process: (events) => inTurn(events.map((event) => () => log(event))),
    close: () => writer.close(),
  };
}

/** `--audit-log-path`: a file, or `-` for standard output. */
export const openLog = (path: string, rotation: RotationOptions): LineWriter => (path === '-' ? standardOutput() : new RotatingFile(path, rotation));

/** Pipes, files and terminals are written to at once; a reader that has gone fails the lines after it, and not the process. */
function standardOutput(): LineWriter {
  const queue = new LineQueue();
  let failure: Error | undefined;
  const onFailure = (error: Error): void => void (failure = error);
  process.stdout.on('error', onFailure);
  return {
    write: (line) =>
      queue.add(() => {
        if (failure) throw failure;
        if (typeof line !== 'string') return writePieces(line);
        process.stdout.write(line);
      }),
    async close() {
      await queue.drain();
      await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()));
      process.stdout.off('error', onFailure);
    },
  };
}

async function writePieces(pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    process.stdout.write(piece);
    await nextTurn();
  }
}
