import type { Socket } from 'node:net';
import type { ConnectionSource } from '../serving/port.ts';
import { type AuditLine, SentAuditLines } from './audit-lines.ts';
import type { PrimaryMessage, PrintedMetrics, WorkerMessage, WorkerSettings } from './settings.ts';

/** The worker's end of its talk with the primary. */
export class WorkerLink {
  readonly settings: WorkerSettings;
  /** What this worker has counted, as `/metrics` shows it. */
  printMetrics: () => Promise<string> = () => Promise.resolve('');
  /** All counts begin anew. */
  resetMetrics: () => void = () => undefined;
  /** Told its part of all seats, between 0 and 1, whenever that changes. */
  onShare: (share: number) => void = () => undefined;
  /** Undefined while no connections are taken. */
  #onConnection: ((socket: Socket) => void) | undefined;
  readonly #auditLines = new SentAuditLines((message) => this.tell(message));
  readonly #waiting = new Map<number, (metrics: readonly PrintedMetrics[]) => void>();
  #lastId = 0;

  constructor(settings: WorkerSettings) {
    this.settings = settings;
    process.on('message', (message: PrimaryMessage, socket?: Socket) => this.#onMessage(message, socket));
    // The primary is gone, and with it the port and the store.
    process.on('disconnect', () => process.exit(0));
  }

  /** The connections that the primary hands over. */
  get connections(): ConnectionSource {
    return {
      address: this.settings.address,
      start: (onConnection) => {
        this.#onConnection = onConnection;
      },
      stop: async () => {
        this.#onConnection = undefined;
        this.tell({ type: 'leave' });
      },
    };
  }

  tell(message: WorkerMessage): void {
    // With a callback, what fails is told to it: where the primary is gone, 'disconnect' ends this process.
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  }

  /** Resolves when the line is in the audit log; rejects with the reason why it is not. */
  writeAudit(line: AuditLine): Promise<void> {
    return this.#auditLines.write(line);
  }

  /** What the primary and all workers that answer in time have counted. */
  gatherMetrics(): Promise<readonly PrintedMetrics[]> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.tell({ type: 'gather', id });
    });
  }

  async #print(id: number): Promise<void> {
    this.tell({ type: 'printed', id, text: await this.printMetrics() });
  }

  #onMessage(message: PrimaryMessage, socket: Socket | undefined): void {
    if (message.type === 'connection') this.#take(socket);
    else if (message.type === 'print') void this.#print(message.id);
    else if (message.type === 'reset') this.resetMetrics();
    else if (message.type === 'share') this.onShare(message.share);
    else if (message.type === 'audited') this.#auditLines.onAnswer(message.id, message.error);
    else if (message.type === 'gathered') {
      this.#waiting.get(message.id)?.(message.metrics);
      this.#waiting.delete(message.id);
    }
  }

  #take(socket: Socket | undefined): void {
    if (!this.#onConnection) {
      this.tell({ type: 'leave' });
      socket?.destroy();
      return;
    }
    this.tell({ type: 'taken' });
    if (socket) this.#onConnection(socket);
  }
}
