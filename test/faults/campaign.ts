import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/util/test-random.ts';
import type { ApiClient, TestList } from '../support/api-client.ts';
import { type Operation, assertLinearizable } from './linearizability.ts';
import { COLLECTION, FaultClient, Recorder, knownOf } from './recorder.ts';
import { Follower } from './watch-history.ts';

/** Servers and a store that faults are done to. */
export interface Target {
  /** Kinds of faults, by name. Each does its harm and resolves when the store takes writes again, or soon will. */
  readonly faults: Readonly<Record<string, (random: () => number) => Promise<void>>>;
  /** A client of a server, which may be another one for each number. */
  client(index: number): ApiClient;
  stop(): Promise<void>;
}

interface Campaign {
  injections: number;
  seed: number;
  clients?: number;
}

const KEYS_A_ROUND = 4;
const FAULT_WITHIN_MS = 250;
/** Goes on after the fault for so long. */
const AFTERMATH_MS = 50;

/**
 * Round after round: clients change a few objects, all at once, one fault happens, then every object is read. What they saw of each object must have an
 * explanation; a follower must have seen every write; at the end all objects of all rounds must still be what they were.
 */
export async function runCampaign(
  target: Target,
  { injections, seed, clients = 6 }: Campaign,
): Promise<{ operations: number; faults: Map<string, number>; lists: number }> {
  const random = seeded(seed);
  const histories = new Map<string, Operation[]>();
  const faults = new Map<string, number>();
  const names = Object.keys(target.faults);
  const follower = new Follower(target.client(0));
  let operations = 0;
  try {
    for (let round = 0; round < injections; round++) {
      const fault = names[(seed + round) % names.length]!;
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      const recorder = await runRound(target, { round, clients, random, inject: target.faults[fault]! });
      for (const [key, history] of recorder.histories) {
        assertLinearizable(`${key} (${fault}, seed ${seed})`, history);
        operations += history.length;
        histories.set(key, history);
      }
      await follower.reached(Math.max(0, ...recorder.acknowledged.map(({ version }) => version)));
      follower.assertComplete(recorder.acknowledged);
    }
    assertAllThere(await target.client(0).get<TestList>(COLLECTION), histories);
    return { operations, faults, lists: follower.lists };
  } finally {
    await follower.stop();
  }
}

interface Round {
  round: number;
  clients: number;
  random: () => number;
  inject: (random: () => number) => Promise<void>;
}

async function runRound(target: Target, { round, clients, random, inject }: Round): Promise<Recorder> {
  const recorder = new Recorder(`r${round}-`);
  const keys = Array.from({ length: KEYS_A_ROUND }, (_, i) => `round-${round}-${i}`);
  let isOver = false;
  const running = Array.from({ length: clients }, (_, i) => new FaultClient(target.client(i), recorder, random).runUntil(() => isOver, keys));
  try {
    await delay(random() * FAULT_WITHIN_MS);
    await inject(random);
    await delay(AFTERMATH_MS);
  } finally {
    isOver = true;
    await Promise.all(running);
  }
  const reader = new FaultClient(target.client(round), recorder, random);
  for (const key of keys) await reader.settle(key);
  return recorder;
}

/** What is there at the end is as good as a last read of each object. A write whose answer never came may have happened since. */
function assertAllThere(list: TestList, histories: ReadonlyMap<string, readonly Operation[]>): void {
  const found = new Map(list.items.filter(({ data }) => data?.['id'] !== undefined).map((item) => [item.metadata.name, knownOf(item).id]));
  const now = performance.now();
  for (const [key, history] of histories) {
    const last: Operation = { kind: 'read', expected: undefined, value: found.get(key), outcome: 'done', calledAt: now, answeredAt: now };
    assertLinearizable(`${key}, at the end`, [...history, last]);
  }
}

/** The same numbers for the same seed, so that a run that failed can be made again, as far as processes allow. */
export function seeded(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}
