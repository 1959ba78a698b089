import { nextTurn } from '../util/time-slice.ts';
import type { PrimaryMessage, WorkerMessage } from './settings.ts';

/* The audit log of several workers has one writer, the primary. Each line is answered, so that its request waits for it as if the worker wrote itself. */

/** As text, or in pieces. */
export type AuditLine = string | readonly Buffer[];

/** Messages are JSON, which is made and parsed at once: one of ten megabytes would hold both ends up. */
const PART_BYTES = 256 * 1024;

interface Waiting {
  resolve: () => void;
  reject: (error: Error) => void;
}

/** The worker's end. */
export class SentAuditLines {
  readonly #tell: (message: WorkerMessage) => void;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  constructor(tell: (message: WorkerMessage) => void) {
    this.#tell = tell;
  }

  /** Resolves when the line is in the log; rejects with the reason why it is not. */
  async write(line: AuditLine): Promise<void> {
    const id = ++this.#lastId;
    if (typeof line !== 'string') await this.#tellParts(id, line);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#tell({ type: 'audit', id, line: typeof line === 'string' ? line : '' });
    });
  }

  async #tellParts(id: number, pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; at += PART_BYTES) {
        this.#tell({ type: 'audit-part', id, bytes: piece.toString('latin1', at, at + PART_BYTES) });
        await nextTurn();
      }
    }
  }

  onAnswer(id: number, error: string | undefined): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(new Error(error));
  }
}

/** The primary's end, of one worker: what a line has of parts is forgotten with the worker. */
export class ReceivedAuditLines {
  readonly #write: (line: AuditLine) => Promise<void> | void;
  readonly #answer: (message: PrimaryMessage) => void;
  readonly #parts = new Map<number, Buffer[]>();

  /** `write` throws or rejects where a line cannot be written. */
  constructor(write: (line: AuditLine) => Promise<void> | void, answer: (message: PrimaryMessage) => void) {
    this.#write = write;
    this.#answer = answer;
  }

  addPart(id: number, bytes: string): void {
    const part = Buffer.from(bytes, 'latin1');
    const parts = this.#parts.get(id);
    if (parts === undefined) this.#parts.set(id, [part]);
    else parts.push(part);
  }

  async end(id: number, line: string): Promise<void> {
    const parts = this.#parts.get(id);
    this.#parts.delete(id);
    try {
      await this.#write(parts ?? line);
      this.#answer({ type: 'audited', id });
    } catch (error) {
      this.#answer({ type: 'audited', id, error: (error as Error).message });
    }
  }
}
