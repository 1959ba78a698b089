import { parseArgs } from 'node:util';
import { type CampaignOptions, type Result, runCampaign } from './campaign.ts';
import { readCorpus, saveCorpus } from './corpus.ts';
import { describeFinding, table } from './report.ts';
import { searchSlow } from './slow.ts';
import { TARGETS } from './targets.ts';

/* `npm run fuzz`: made-up inputs for all parsers and entry points. See README.md. */

/** What is asked of a machine that does nothing else. */
const BOUND_MS = 100;
const DEFAULT_INPUTS = 500_000;
const CORPUS = 'fuzz/corpus';
const FINDINGS = 'node_modules/.cache/fuzz-findings';

const HELP = `npm run fuzz -- [--target NAME]... [--inputs N] [--seconds N] [--seed N] [--slow]

Sends made-up inputs to parsers and entry points. The exit code is 1 where one throws what it must not, or takes longer than ${BOUND_MS} ms.

  --target   one target; may be given several times. Without it, all of them share the inputs:
             ${TARGETS.map(({ name }) => name).join(' ')}
  --inputs   how many inputs: ${DEFAULT_INPUTS}, unless --seconds is given
  --seconds  for how long
  --seed     the same seed makes the same inputs: 1
  --slow     searches for inputs that take long, and keeps them in ${CORPUS}`;

const options = readOptions();

function readOptions() {
  try {
    return parseArgs({
      options: {
        target: { type: 'string', multiple: true },
        inputs: { type: 'string' },
        seconds: { type: 'string' },
        seed: { type: 'string', default: '1' },
        slow: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const unknown = (options.target ?? []).filter((name) => TARGETS.every((target) => target.name !== name));
  if (unknown.length > 0) {
    console.error(`there is no target ${unknown.join(', ')}; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
    return 2;
  }
  const targets = TARGETS.filter(({ name }) => options.target === undefined || options.target.includes(name));
  const isUnlimited = options.inputs === undefined && options.seconds === undefined;
  let inputsLeft = isUnlimited ? DEFAULT_INPUTS : Number(options.inputs ?? Infinity);
  const endMs = performance.now() + Number(options.seconds ?? Infinity) * 1000;
  const results: Result[] = [];
  for (const [index, target] of targets.entries()) {
    // What one does not use of its share is shared by those behind it.
    const targetsLeft = targets.length - index;
    const campaign: CampaignOptions = {
      seed: Number(options.seed),
      inputs: Math.ceil(inputsLeft / targetsLeft),
      seconds: (endMs - performance.now()) / 1000 / targetsLeft,
      corpus: readCorpus(CORPUS, target.name),
      boundMs: BOUND_MS,
    };
    const { result, slowest } = options.slow ? await searchSlow(target, campaign) : { result: await runCampaign(target, campaign), slowest: [] };
    if (options.slow) saveCorpus(CORPUS, target.name, slowest);
    results.push(result);
    inputsLeft -= result.inputs;
    console.error(`${target.name}: ${result.inputs} inputs, ${result.findings.length} findings, slowest ${result.slowest.durationMs.toFixed(1)} ms`);
    for (const finding of result.findings) console.log(describeFinding(finding, FINDINGS));
  }
  console.log(table(results));
  const findings = results.reduce((sum, result) => sum + result.findings.length, 0);
  console.log(`seed ${options.seed}: ${findings} findings`);
  return findings > 0 ? 1 : 0;
}

process.on('uncaughtException', (error) => {
  console.error('a fault outside of any input:', error);
  process.exit(2);
});
process.exitCode = await main();
