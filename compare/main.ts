import { readFileSync } from 'node:fs';
import { generateScenario } from './generate/scenario.ts';
import { type Group, Groups } from './groups.ts';
import { Hooks } from './hooks.ts';
import { type Options, parseOptions } from './options.ts';
import { isReferenceUnsteady } from './order.ts';
import { ScenarioNames } from './placeholders.ts';
import { Totals, describeDifference, describeGroup } from './report.ts';
import { type Pair, runSteps } from './run.ts';
import { Server } from './server.ts';
import { shrink } from './shrink.ts';

/* `npm run compare`: sends the same generated requests to two servers and shows where their answers differ. See README.md. */

const PROGRESS_MS = 2000;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  const tokens = readTokens(options.tokens);
  const pair: Pair = {
    reference: new Server('reference', options.reference, tokens),
    server: new Server('server', options.server, tokens),
    referenceHooks: await new Hooks().listen(),
    serverHooks: await new Hooks().listen(),
    names: new ScenarioNames(),
  };
  const totals = new Totals();
  const groups = new Groups();
  const progress = setInterval(() => console.error(`${totals.requests} requests, ${groups.total} differences in ${groups.all().length} groups`), PROGRESS_MS);
  await runAll(pair, options, totals, groups);
  clearInterval(progress);
  const unexplained = await tell(pair, options, totals, groups);
  console.log(totals.describe());
  console.log(`seed ${options.seed}: ${totals.requests} requests to each server, ${unexplained} unexplained differences`);
  for (const end of [pair.reference, pair.server, pair.referenceHooks, pair.serverHooks]) end.close();
  return unexplained > 0 ? 1 : 0;
}

const readTokens = (file: string): Map<string, string> =>
  new Map(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(','))
      .map(([token, user]) => [user!, token!]),
  );

async function runAll(pair: Pair, options: Options, totals: Totals, groups: Groups): Promise<void> {
  let next = options.scenario ?? 0;
  let isInterrupted = false;
  // What was found until then is shrunk and shown; a second interrupt ends it at once.
  process.once('SIGINT', () => (isInterrupted = true));
  const isLast = (): boolean => isInterrupted || (options.scenario === undefined ? totals.requests >= options.requests : next > options.scenario);
  const work = async (): Promise<void> => {
    while (!isLast()) {
      const scenario = generateScenario(options.seed, next++, options.only);
      const { sent, explained, finding } = await runSteps(pair, scenario.steps);
      const isUnsteady = finding !== undefined && !groups.has(scenario, finding) && (await isReferenceUnsteady(pair, scenario.steps, finding));
      if (isUnsteady) totals.explain('the reference itself answers in more than one way (order of a Go map)', 1);
      totals.add(scenario.area, sent, explained, finding !== undefined && !isUnsteady);
      if (finding && !isUnsteady) {
        if (!groups.has(scenario, finding)) console.error(`a difference: --seed=${scenario.seed} --scenario=${scenario.index} (${scenario.area})`);
        groups.add(scenario, finding);
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
}

/** Shrinks and prints each group, and answers with how many are not explained. */
async function tell(pair: Pair, options: Options, totals: Totals, groups: Groups): Promise<number> {
  let unexplained = 0;
  for (const [index, group] of groups.all().entries()) {
    if (index < options.show) unexplained += await tellGroup(pair, group, totals);
    else {
      unexplained++;
      console.log(describeGroup(group, { steps: [group.scenario.steps[group.finding.stepIndex]!], finding: group.finding }));
    }
  }
  return unexplained;
}

async function tellGroup(pair: Pair, group: Group, totals: Totals): Promise<number> {
  const { scenario, finding } = group;
  const shrunk = await shrink(pair, scenario.steps, finding);
  if (shrunk === undefined) {
    totals.explain('not seen again when the same requests were sent again', group.count);
    console.log(
      `── ${group.count} × ${scenario.area}: --seed=${scenario.seed} --scenario=${scenario.index} was not seen again:\n${finding.differences.map(describeDifference).join('\n')}\n`,
    );
    return 0;
  }
  console.log(describeGroup(group, shrunk));
  return 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
