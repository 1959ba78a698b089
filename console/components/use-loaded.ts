import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isAborted } from '../api/status.ts';

interface Loaded<T> {
  /** The last answer; nothing before the first, and after an error. */
  value?: T;
  error?: unknown;
}

/** What the server answers to a request that is sent when the component is shown, and again when one of the inputs has changed. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const loaded = useSignal<Loaded<T>>({});
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => (loaded.value = { value }),
      (error: unknown) => !isAborted(error) && (loaded.value = { error }),
    );
    return () => stop.abort();
  }, inputs);
  return loaded.value;
}
