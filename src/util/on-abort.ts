/** Of each signal that somebody waits for: the one listener, and whom it calls. */
const waitingFor = new WeakMap<AbortSignal, Waiting>();

interface Waiting {
  readonly entries: Set<Entry>;
  readonly listener: () => void;
}

/** In an object of its own: the same function may be given twice. */
interface Entry {
  readonly callback: () => void;
}

/**
 * Calls back once when the signal aborts; at once where it has. Answers the way to stop waiting, which everybody must call whose own life ends before the
 * signal's: what is left behind lives as long as the signal, and ours live as long as a server.
 *
 * A server's signal is waited for by every controller and connection of it. An EventTarget takes more than ten listeners for a leak, and says so in the
 * log; so the signal has one listener, and those who wait are a set here, out of which one can be taken without looking through the others.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const { entries, listener } = waitingFor.get(signal) ?? listenTo(signal);
  const entry = { callback };
  entries.add(entry);
  return () => {
    if (!entries.delete(entry) || entries.size > 0) return;
    waitingFor.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const entries = new Set<Entry>();
  const waiting = { entries, listener: () => callAll(entries) };
  waitingFor.set(signal, waiting);
  signal.addEventListener('abort', waiting.listener, { once: true });
  return waiting;
}

/** All of them, whatever one throws: that is told to the process, as an EventTarget does. */
function callAll(entries: Set<Entry>): void {
  for (const entry of entries) {
    entries.delete(entry);
    try {
      entry.callback();
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  }
}
