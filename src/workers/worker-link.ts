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
  /** Takes no more connections: another worker does. */
  onLeave: () => void = () => undefined;
  readonly #waiting = new Map<number, (metrics: readonly PrintedMetrics[]) => void>();
  #lastId = 0;

  constructor(settings: WorkerSettings) {
    this.settings = settings;
    process.on('message', (message: PrimaryMessage) => this.#onMessage(message));
  }

  tell(message: WorkerMessage): void {
    if (process.connected) process.send?.(message);
  }

  /** What all workers that answer in time have counted. */
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

  #onMessage(message: PrimaryMessage): void {
    if (message.type === 'print') void this.#print(message.id);
    else if (message.type === 'reset') this.resetMetrics();
    else if (message.type === 'leave') this.onLeave();
    else if (message.type === 'share') this.onShare(message.share);
    else if (message.type === 'gathered') {
      this.#waiting.get(message.id)?.(message.metrics);
      this.#waiting.delete(message.id);
    }
  }
}
