import { type Change, type Engine, type Range, type RangeOptions, StorageUnavailable, type Stored, type StoredEvent, type Subscription } from '../engine.ts';
import type { ChangeLog } from './change-log.ts';

/** What the engines that live in this process have in common: they alone write, and what they write passes through a log that tells watchers. */
export abstract class LocalEngine implements Engine {
  readonly isSingleWriter = true;
  protected readonly log: ChangeLog;
  protected isClosed = false;

  constructor(log: ChangeLog) {
    this.log = log;
  }

  abstract get(key: string): Promise<Stored | undefined>;
  abstract range(prefix: string, options?: RangeOptions): Promise<Range>;
  abstract commit(change: Change): Promise<number>;
  abstract checkHealth(): Promise<void>;
  abstract close(): Promise<void>;

  watch(prefix: string, from: number, sink: (events: StoredEvent[]) => void, onError?: (error: Error) => void): Subscription {
    this.assertOpen();
    return this.log.watch(prefix, from, sink, onError);
  }

  async currentRevision(): Promise<number> {
    this.assertOpen();
    return this.log.revision;
  }

  async compact(revision: number): Promise<void> {
    this.log.compact(revision);
  }

  protected assertOpen(): void {
    if (this.isClosed) throw new StorageUnavailable('the store is closed');
  }
}
