import { Random } from '../src/util/test-random.ts';
import { type CampaignOptions, type Result, seedsOf } from './campaign.ts';
import { leastDuration, measure } from './measure.ts';
import { mutate } from './mutate.ts';
import type { FuzzTarget } from './target.ts';

/** An input and what it took. */
export interface SlowInput {
  input: Buffer;
  durationMs: number;
  /** Microseconds per byte. */
  score: number;
}

const MAX_POPULATION = 40;
/** What a call takes whatever it is given must not make the shortest input the slowest one per byte. */
const CALL_BYTES = 1000;
const MAX_BYTES = 64 * 1024;
const RUNS_OF_A_CANDIDATE = 2;
const RUNS_TO_WARM_UP = 300;
const INPUTS_UNTIL_MEASURED_AGAIN = 1000;
const MAX_FINDINGS = 10;

const scoreOf = (durationMs: number, input: Buffer): number => (durationMs * 1000) / (input.length + CALL_BYTES);

/** Keeps what took longest per byte, and mutates that, mostly by repeating, doubling and nesting its parts. The slowest first. */
export async function searchSlow(
  target: FuzzTarget,
  { seed, inputs, seconds, corpus, boundMs }: CampaignOptions,
): Promise<{ result: Result; slowest: SlowInput[] }> {
  const random = new Random(seed);
  const seeds = seedsOf(target);
  const maxBytes = Math.max(MAX_BYTES, target.maxBytes ?? 0);
  const result: Result = { target: target.name, inputs: 0, durationMs: 0, outcomes: new Map(), slowest: { durationMs: 0, bytes: 0 }, findings: [] };
  let population: SlowInput[] = [];
  const given = [...seeds, ...corpus];
  const startMs = performance.now();
  await warmUp(target, seeds);
  while (result.inputs < inputs && result.findings.length < MAX_FINDINGS && performance.now() < startMs + seconds * 1000) {
    const parent = population.length === 0 || random.chance(0.1) ? random.pick(seeds) : random.pick(population).input;
    const input = given[result.inputs] ?? mutate(random, parent, { ...target, maxBytes, others: seeds, isGrowing: true });
    const outcome = await measure(target, input);
    result.inputs++;
    result.outcomes.set(outcome.name, (result.outcomes.get(outcome.name) ?? 0) + 1);
    if (outcome.fault !== undefined) result.findings.push({ target: target.name, problem: outcome.fault, input });
    // A measurement that was too high by chance would stay for ever.
    if (result.inputs % INPUTS_UNTIL_MEASURED_AGAIN === 0) population = await measuredAgain(target, population);
    const worst = population.length < MAX_POPULATION ? 0 : population.at(-1)!.score;
    if (scoreOf(outcome.durationMs, input) <= worst && outcome.durationMs <= boundMs) continue;
    const durationMs = await leastDuration(target, input, RUNS_OF_A_CANDIDATE, outcome.durationMs);
    if (durationMs > boundMs) result.findings.push({ target: target.name, problem: `took ${durationMs.toFixed(0)} ms`, input });
    if (durationMs > result.slowest.durationMs) result.slowest = { durationMs, bytes: input.length };
    const score = scoreOf(durationMs, input);
    if (score > worst) population = withInput(population, { input, durationMs, score });
  }
  result.durationMs = performance.now() - startMs;
  return { result, slowest: await measuredAgain(target, population) };
}

/** Code that V8 has not compiled yet is slow whatever it is given. */
async function warmUp(target: FuzzTarget, seeds: readonly Buffer[]): Promise<void> {
  for (let run = 0; run < RUNS_TO_WARM_UP; run++) await measure(target, seeds[run % seeds.length]!);
}

/** What was slow by chance falls behind. */
async function measuredAgain(target: FuzzTarget, population: readonly SlowInput[]): Promise<SlowInput[]> {
  const measured: SlowInput[] = [];
  for (const { input, durationMs: before } of population) {
    const durationMs = await leastDuration(target, input, RUNS_OF_A_CANDIDATE, before);
    measured.push({ input, durationMs, score: scoreOf(durationMs, input) });
  }
  return measured.toSorted((a, b) => b.score - a.score);
}

const withInput = (population: readonly SlowInput[], added: SlowInput): SlowInput[] =>
  [...population, added].toSorted((a, b) => b.score - a.score).slice(0, MAX_POPULATION);
