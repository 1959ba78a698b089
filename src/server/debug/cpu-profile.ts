import type { Profiler } from 'node:inspector';
import { delay } from '../../util/delay.ts';
import type { InspectorSessions } from './inspector-session.ts';
import { type Frame, PprofProfile } from './pprof-profile.ts';
import { ROOT, frameOf } from './v8-frames.ts';

/** Go's rate, 100 samples a second: V8's default of 1,000 takes ten times as much of what it measures. */
const SAMPLING_INTERVAL_US = 10_000;
const NANOSECONDS_IN_US = 1_000;
/** The thread waits for its sockets; CPU profiles do not count that. */
const IDLE = '(idle)';

/** What the main thread does in so many seconds, or until the signal. V8 looks at its whole heap before the first sample: 1.3 ms for each MiB of small objects. */
export async function recordCpuProfile(sessions: InspectorSessions, seconds: number, signal: AbortSignal): Promise<PprofProfile> {
  const timeMs = Date.now();
  const profile = await sessions.use('cpu profiling', async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
    await session.post('Profiler.start');
    await delay(seconds * 1000, signal);
    return (await session.post('Profiler.stop')).profile;
  });
  return convertCpuProfile(profile, timeMs);
}

export function convertCpuProfile({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile, timeMs: number): PprofProfile {
  const converted = new PprofProfile({
    sampleTypes: [
      { type: 'samples', unit: 'count' },
      { type: 'cpu', unit: 'nanoseconds' },
    ],
    periodType: { type: 'cpu', unit: 'nanoseconds' },
    period: SAMPLING_INTERVAL_US * NANOSECONDS_IN_US,
    timeMs,
    durationMs: (endTime - startTime) / 1000,
  });
  const stacks = stacksOf(nodes);
  samples.forEach((nodeId, index) => {
    const stack = stacks.get(nodeId);
    // What V8 sees between the last sample and this one is this one's; a clock that was set back is no time.
    const spentUs = Math.max(0, timeDeltas[index] ?? 0);
    if (stack && stack[0]?.name !== IDLE) converted.add(stack, [1, spentUs * NANOSECONDS_IN_US]);
  });
  return converted;
}

/** Of each node, innermost frame first. Parents come before their children in V8's list, so that each stack is its parent's and one more. */
function stacksOf(nodes: readonly Profiler.ProfileNode[]): Map<number, readonly Frame[]> {
  const stacks = new Map<number, readonly Frame[]>();
  for (const { id, callFrame, children = [] } of nodes) {
    const stack = callFrame.functionName === ROOT ? [] : [frameOf(callFrame), ...(stacks.get(id) ?? [])];
    stacks.set(id, stack);
    // Until they are looked at themselves, children have their parent's stack.
    for (const child of children) stacks.set(child, stack);
  }
  return stacks;
}
