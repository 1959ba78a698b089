import { finished } from 'node:stream/promises';
import { getHeapSnapshot } from 'node:v8';
import type { ResponseStream } from '../../serving/exchange.ts';
import { onAbort } from '../../util/on-abort.ts';

/**
 * Streams a heap snapshot of V8 (Chrome DevTools opens it as a `.heapsnapshot`). Taking it stops the thread, for about a second a 100 MiB of heap; sending it does
 * not: pieces are made as the client reads them.
 */
export async function streamHeapSnapshot(begin: () => ResponseStream, signal: AbortSignal): Promise<void> {
  const snapshot = getHeapSnapshot();
  const stream = begin();
  const stopWaiting = onAbort(signal, () => void snapshot.destroy());
  snapshot.on('data', (piece: Buffer) => {
    if (stream.write(piece)) return;
    snapshot.pause();
    stream.onDrain(() => snapshot.resume());
  });
  try {
    await finished(snapshot);
    stream.end();
  } catch {
    // The client has gone: nobody is left to tell.
    stream.destroy();
  } finally {
    stopWaiting();
  }
}
