import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCampaign } from './campaign.ts';
import { readCorpus } from './corpus.ts';
import { TARGETS } from './targets.ts';

/* The short form of `npm run fuzz`: the slowest inputs that were found, and some hundreds of new ones for each target. */

const CORPUS = join(import.meta.dirname, 'corpus');
const INPUTS = 500;
/** CI's machine is slower, does other things too, and the code is cold: what once took seconds takes longer still. */
const BOUND_MS = 1_000;

describe(`${INPUTS} inputs for each target`, () => {
  test.each(TARGETS.map((target) => [target.name, target] as const))('%s', async (name, target) => {
    const { findings, inputs } = await runCampaign(target, {
      seed: 17,
      inputs: INPUTS,
      seconds: Infinity,
      corpus: readCorpus(CORPUS, name),
      boundMs: BOUND_MS,
    });
    expect(findings.map(({ problem, input }) => `${problem}: ${input.toString('base64').slice(0, 2000)}`)).toEqual([]);
    expect(inputs).toBe(INPUTS);
  });
});
