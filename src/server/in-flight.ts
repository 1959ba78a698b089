import type { IncomingRequest } from './server-request.ts';

/** How many requests are under way, and when the last of them is over. */
export class InFlightRequests {
  /** Those that have a deadline and were not answered at once. The filter that keeps their deadlines has them anyway, so that nobody keeps a list twice. */
  waiting: Iterable<IncomingRequest> = [];
  /** Long-running ones that are no watches: proxied requests, logs, shells, profiles. */
  readonly #streams = new Set<IncomingRequest>();
  readonly #removeStream = (request: IncomingRequest): void => void this.#streams.delete(request);
  #count = 0;
  #drained: PromiseWithResolvers | undefined;

  get count(): number {
    return this.#count;
  }

  /** False once someone waits for the end: no more requests then. */
  add(): boolean {
    if (this.#drained !== undefined) return false;
    this.#count++;
    return true;
  }

  addStream(request: IncomingRequest): void {
    this.#streams.add(request);
    request.onFinish(this.#removeStream);
  }

  /** What is under way in this turn of the event loop, but for watches. */
  list(): IncomingRequest[] {
    return [...this.waiting, ...this.#streams];
  }

  done(): void {
    this.#count--;
    if (this.#count === 0) this.#drained?.resolve();
  }

  /** Closes the door; resolves when all who came in have gone. */
  drained(): Promise<void> {
    if (this.#drained === undefined) {
      this.#drained = promiseWithResolvers();
      if (this.#count === 0) this.#drained.resolve();
    }
    return this.#drained.promise;
  }
}

const SHUTTING_DOWN = new Error('the server is shutting down');

/** The open watches, in the order in which they came. */
export class OpenWatches {
  readonly #open = new Set<IncomingRequest>();
  readonly #remove = (request: IncomingRequest): void => {
    this.#open.delete(request);
    if (this.#open.size === 0) this.#empty?.resolve();
  };
  #empty: PromiseWithResolvers | undefined;

  get count(): number {
    return this.#open.size;
  }

  list(): IncomingRequest[] {
    return [...this.#open];
  }

  /** False once they are being ended. */
  add(request: IncomingRequest): boolean {
    if (this.#empty !== undefined) return false;
    this.#open.add(request);
    request.onFinish(this.#remove);
    return true;
  }

  /** Takes no more; resolves when the last has ended. */
  drained(): Promise<void> {
    if (this.#empty === undefined) {
      this.#empty = promiseWithResolvers();
      if (this.#open.size === 0) this.#empty.resolve();
    }
    return this.#empty.promise;
  }

  /** Tells the oldest `count` to end: their handlers see their signal abort. */
  end(count: number): void {
    let left = count;
    for (const request of this.#open) {
      if (left-- <= 0) return;
      request.abort(SHUTTING_DOWN);
    }
  }
}

interface PromiseWithResolvers {
  promise: Promise<void>;
  resolve: () => void;
}

function promiseWithResolvers(): PromiseWithResolvers {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
