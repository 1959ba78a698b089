import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The time, each second, while the component is shown. */
export function useNow(intervalMs = 1_000): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now.value;
}
