import { parseArgs } from 'node:util';
import { type CampaignOptions, type Result, runCampaign } from './campaign.ts';
import { readCorpus, saveCorpus } from './corpus.ts';
import { describeFinding, table } from './report.ts';
import { searchSlow } from './slow.ts';
import { TARGETS } from './targets.ts';

/* `npm run fuzz`: made-up inputs for all parsers and entry points. See README.md. */

/** What is asked of a machine that does nothing else. */
const BOUND_MS = 100;
const CORPUS = 'fuzz/corpus';
const FINDINGS = 'node_modules/.cache/fuzz-findings';

const { values: options } = parseArgs({
  options: {
    target: { type: 'string', multiple: true },
    inputs: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    slow: { type: 'boolean', default: false },
  },
});

async function main(): Promise<number> {
  const targets = TARGETS.filter(({ name }) => options.target === undefined || options.target.includes(name));
  if (targets.length === 0) throw new Error(`no such target; there are ${TARGETS.map(({ name }) => name).join(', ')}`);
  const share = (text: string | undefined): number => (text === undefined ? Infinity : Number(text) / targets.length);
  const isUnlimited = options.inputs === undefined && options.seconds === undefined;
  const results: Result[] = [];
  for (const target of targets) {
    const campaign: CampaignOptions = {
      seed: Number(options.seed),
      inputs: Math.ceil(isUnlimited ? 20_000 : share(options.inputs)),
      seconds: share(options.seconds),
      corpus: readCorpus(CORPUS, target.name),
      boundMs: BOUND_MS,
    };
    const { result, slowest } = options.slow ? await searchSlow(target, campaign) : { result: await runCampaign(target, campaign), slowest: [] };
    if (options.slow) saveCorpus(CORPUS, target.name, slowest);
    results.push(result);
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
