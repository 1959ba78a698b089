import type { HeapProfiler } from 'node:inspector';
import { delay } from '../../util/delay.ts';
import type { InspectorSessions } from './inspector-session.ts';
import { type Frame, PprofProfile } from './pprof-profile.ts';
import { ROOT, frameOf } from './v8-frames.ts';

/** Go's rate: one sample for each 512 KiB that are allocated. */
const SAMPLING_INTERVAL_BYTES = 512 * 1024;

/** As V8 gives it: Node's types leave out the samples and the ids that they name. */
interface HeapNode {
  callFrame: HeapProfiler.SamplingHeapProfileNode['callFrame'];
  id: number;
  selfSize: number;
  children: readonly HeapNode[];
}
export interface V8HeapProfile {
  head: HeapNode;
  samples: readonly { nodeId: number; size: number }[];
}

export type HeapProfileName = 'heap' | 'allocs';

/**
 * `allocs`: what was allocated in so many seconds, and by whom. `heap`: what of it is still there in the end, and beside it how much memory there is of which
 * V8 does not know who allocated it, so that the sum is the process's. V8 samples only while it is asked to: unlike Go's, a profile has no past.
 */
export async function recordHeapProfile(
  sessions: InspectorSessions,
  name: HeapProfileName,
  { seconds, signal, collectsFirst }: { seconds: number; signal: AbortSignal; collectsFirst: boolean },
): Promise<PprofProfile> {
  const timeMs = Date.now();
  const includesCollected = name === 'allocs';
  const profile = await sessions.use('memory profiling', async (session) => {
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_INTERVAL_BYTES,
      includeObjectsCollectedByMajorGC: includesCollected,
      includeObjectsCollectedByMinorGC: includesCollected,
    });
    await delay(seconds * 1000, signal);
    if (collectsFirst) await session.post('HeapProfiler.collectGarbage');
    return (await session.post('HeapProfiler.stopSampling')).profile as unknown as V8HeapProfile;
  });
  const converted = convertHeapProfile(profile, name, { timeMs, durationMs: Date.now() - timeMs });
  if (name === 'heap') addUnknownMemory(converted, process.memoryUsage(), totalSize(profile));
  return converted;
}

/** Sample types are Go's, so that `-sample_index=inuse_space` and the like mean the same; what was freed is not counted apart. */
export function convertHeapProfile({ head, samples }: V8HeapProfile, name: HeapProfileName, times: { timeMs: number; durationMs: number }): PprofProfile {
  const prefix = name === 'heap' ? 'inuse' : 'alloc';
  const converted = new PprofProfile({
    sampleTypes: [
      { type: `${prefix}_objects`, unit: 'count' },
      { type: `${prefix}_space`, unit: 'bytes' },
    ],
    periodType: { type: 'space', unit: 'bytes' },
    period: SAMPLING_INTERVAL_BYTES,
    ...times,
  });
  const counts = new Map<number, number>();
  for (const { nodeId } of samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  const pending: { node: HeapNode; callers: readonly Frame[] }[] = [{ node: head, callers: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, callers } = next;
    const stack = node.callFrame.functionName === ROOT ? callers : [frameOf(node.callFrame), ...callers];
    if (node.selfSize > 0) converted.add(stack, [counts.get(node.id) ?? 1, node.selfSize]);
    for (const child of node.children) pending.push({ node: child, callers: stack });
  }
  return converted;
}

const totalSize = ({ samples }: V8HeapProfile): number => samples.reduce((sum, { size }) => sum + size, 0);

/** Memory that no stack is known for, by V8's own names for it. */
function addUnknownMemory(profile: PprofProfile, { heapUsed, external, arrayBuffers, rss, heapTotal }: NodeJS.MemoryUsage, sampledBytes: number): void {
  const parts: [string, number][] = [
    ['(V8 heap: allocated before the profile began)', heapUsed - sampledBytes],
    ['(ArrayBuffers and Buffers)', arrayBuffers],
    ['(other external memory of V8)', external - arrayBuffers],
    ['(V8 heap: free)', heapTotal - heapUsed],
    ['(native memory: code, stacks, LMDB, OpenSSL)', rss - heapTotal - external],
  ];
  for (const [name, bytes] of parts) if (bytes > 0) profile.add([{ name }], [1, bytes]);
}
