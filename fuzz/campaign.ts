import { Random } from '../src/util/test-random.ts';
import { leastDuration, measure } from './measure.ts';
import { mutate } from './mutate.ts';
import type { FuzzTarget } from './target.ts';

export interface CampaignOptions {
  seed: number;
  /** Whichever comes first ends it. */
  inputs: number;
  seconds: number;
  /** Inputs that are run before any is made up: the corpus. */
  corpus: readonly Buffer[];
  /** An input that takes longer is a finding. */
  boundMs: number;
}

export interface Finding {
  target: string;
  problem: string;
  input: Buffer;
}

/** What came of a target's inputs. */
export interface Result {
  target: string;
  inputs: number;
  durationMs: number;
  /** How many were accepted, and how many refused with which error. */
  outcomes: Map<string, number>;
  slowest: { durationMs: number; bytes: number };
  findings: Finding[];
}

/** So many of a target are enough to go on with. */
const MAX_FINDINGS = 10;
/** Inputs that were answered in a way not seen before: what is made of them gets further than what is made of the seeds. */
const MAX_KEPT = 500;
const RUNS_OF_A_SUSPECT = 3;

export const seedsOf = (target: FuzzTarget): Buffer[] => target.seeds().map((seed) => (typeof seed === 'string' ? Buffer.from(seed) : seed));

/** Runs a target's seeds, then the corpus, then what is made of them. The seed alone decides which inputs these are. */
export async function runCampaign(target: FuzzTarget, { seed, inputs, seconds, corpus, boundMs }: CampaignOptions): Promise<Result> {
  const random = new Random(seed);
  const seeds = seedsOf(target);
  const kept: Buffer[] = [...seeds];
  const signatures = new Set<string>();
  const result: Result = { target: target.name, inputs: 0, durationMs: 0, outcomes: new Map(), slowest: { durationMs: 0, bytes: 0 }, findings: [] };
  const given = [...seeds, ...corpus];
  // Most of those that were kept are malformed, of which nothing can be made that is not.
  const keptShare = target.mutateStructure ? 0.2 : 0.5;
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  while (result.inputs < inputs && result.findings.length < MAX_FINDINGS && performance.now() < endMs) {
    const input = given[result.inputs] ?? mutate(random, random.pick(random.chance(keptShare) ? kept : seeds), { ...target, others: kept });
    const { signature } = await runOne(target, input, boundMs, result);
    if (signatures.has(signature) && !random.chance(0.001)) continue;
    signatures.add(signature);
    if (kept.length < MAX_KEPT) kept.push(input);
    else kept[seeds.length + random.below(MAX_KEPT - seeds.length)] = input;
  }
  result.durationMs = performance.now() - startMs;
  return result;
}

async function runOne(target: FuzzTarget, input: Buffer, boundMs: number, result: Result): Promise<{ signature: string }> {
  const outcome = await measure(target, input);
  result.inputs++;
  result.outcomes.set(outcome.name, (result.outcomes.get(outcome.name) ?? 0) + 1);
  if (outcome.fault !== undefined) result.findings.push({ target: target.name, problem: outcome.fault, input });
  if (outcome.durationMs > result.slowest.durationMs) {
    const durationMs = await leastDuration(target, input, RUNS_OF_A_SUSPECT, outcome.durationMs);
    if (durationMs > result.slowest.durationMs) result.slowest = { durationMs, bytes: input.length };
    if (durationMs > boundMs) result.findings.push({ target: target.name, problem: `took ${durationMs.toFixed(0)} ms`, input });
  }
  return outcome;
}
