import { openEtcdEngine } from '../src/storage/engines/etcd/engine.ts';

interface Writes {
  prefix: string;
  count: number;
  /** At the same time. */
  inFlight: number;
  valueBytes: number;
}

/** What kube-apiserver does to a store for creates: each a transaction that puts a key which is not there, with one watch on all. Answers with the seconds that it took. */
export async function writeKeys(url: string, { prefix, count, inFlight, valueBytes }: Writes): Promise<{ seconds: number }> {
  const engine = await openEtcdEngine({ endpoints: [url] });
  const value = Buffer.alloc(valueBytes, 'v');
  let [next, seen] = [0, 0];
  let onAllSeen!: () => void;
  const allSeen = new Promise<void>((resolve) => (onAllSeen = resolve));
  const watch = engine.watch(prefix, (await engine.currentRevision()) + 1, (events) => {
    seen += events.length;
    if (seen === count) onAllSeen();
  });
  const write = async (): Promise<void> => {
    while (next < count) await engine.commit({ type: 'put', key: `${prefix}${next++}`, value, expected: 0 });
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: inFlight }, write));
  const seconds = (performance.now() - startMs) / 1000;
  await allSeen;
  watch.close();
  await engine.close();
  return { seconds };
}
