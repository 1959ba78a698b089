import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';

/**
 * A session's open streams by number: as much of a Map as Node asks of the one it has. V8's Maps are made anew every few dozen changes, and one that was
 * outgrown points at the one that took its place: once it is old, all streams since, with all that hangs on them, live on until the next full collection.
 * Young collections then copy megabytes, and a write costs a tenth more. The numbers of an object leave no such trail.
 */
class StreamTable {
  readonly #byId: Record<number, ServerHttp2Stream> = {};
  size = 0;

  get(id: number): ServerHttp2Stream | undefined {
    return this.#byId[id];
  }

  set(id: number, stream: ServerHttp2Stream): this {
    if (this.#byId[id] === undefined) this.size++;
    this.#byId[id] = stream;
    return this;
  }

  delete(id: number): boolean {
    if (this.#byId[id] === undefined) return false;
    delete this.#byId[id];
    this.size--;
    return true;
  }

  forEach(visit: (stream: ServerHttp2Stream) => void): void {
    for (const stream of Object.values(this.#byId)) visit(stream);
  }
}

/** Gives a new session such a table. Where Node keeps its streams in another way than Node 20 to 24 do, it keeps them so. */
export function useStreamTable(session: ServerHttp2Session): void {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state');
  const state = symbol && (session as unknown as Record<symbol, { streams?: unknown } | undefined>)[symbol];
  if (state?.streams instanceof Map && state.streams.size === 0) state.streams = new StreamTable();
}
