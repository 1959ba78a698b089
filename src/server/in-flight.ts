import type { IncomingRequest } from './server-request.ts';

/** How many requests are under way, and when the last of them is over. */
export class InFlightRequests {
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
