#!/usr/bin/env node
// Records scenarios from a running kube-apiserver, in the form that replay.mjs reads.
//   npm run oracle:record -- --from https://127.0.0.1:6443 [--tokens FILE] [--corpus DIR] [--leave-out-unknown] SCENARIO…
// A SCENARIO is the name of a recorded one (`semantics/watch`), whose requests are sent again, or a file with new ones. The answers go to DIR/<area>.json, where
// the area is what stands before the first `/` of a scenario's name. The server is fresh, and started as README.md says. --leave-out-unknown leaves out requests
// that name what this server did not answer.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, readTokens } from './client.mjs';
import { fromPort } from './run-specific.mjs';
import { Symbols } from './symbols.mjs';

const EVENTS_TIMEOUT_MS = 5000;
const here = dirname(fileURLToPath(import.meta.url));
const { values: flags, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string' },
    tokens: { type: 'string', default: join(here, 'tokens.csv') },
    corpus: { type: 'string', default: join(here, 'corpus') },
    'leave-out-unknown': { type: 'boolean', default: false },
  },
});
if (!flags.from || wanted.length === 0) throw new Error('usage: npm run oracle:record -- --from URL [--corpus DIR] SCENARIO…');

const readScenarios = (file) => JSON.parse(readFileSync(file, 'utf8'));
const known = new Map(
  readdirSync(join(here, 'corpus'))
    .flatMap((file) => readScenarios(join(here, 'corpus', file)))
    .map((scenario) => [scenario.name, scenario]),
);
const client = new Client({ server: flags.from, tokens: readTokens(flags.tokens) });
const port = new URL(flags.from).port || '443';

for (const scenario of wanted.flatMap(scenariosOf)) {
  const recorded = await record(scenario);
  keep(recorded);
  console.log(`${scenario.name}: ${recorded.steps.length} steps`);
}
client.close();

function scenariosOf(argument) {
  if (known.has(argument)) return [known.get(argument)];
  if (!existsSync(argument)) throw new Error(`${argument} is neither a recorded scenario nor a file`);
  return readScenarios(argument);
}

/** The same scenario with the answers of this server. */
async function record({ name, steps }) {
  const symbols = new Symbols();
  const watches = new Map();
  const recorded = [];
  try {
    for (const step of steps) {
      if (flags['leave-out-unknown'] && !isSendable(step, symbols)) continue;
      recorded.push(await recordStep(step, symbols, watches));
    }
  } finally {
    for (const watch of watches.values()) watch.stop();
  }
  return { name, steps: recorded };
}

/** With --leave-out-unknown: whether the server has told all that the request names. One that emulates an older version may have refused the step that would have. */
function isSendable({ request }, symbols) {
  try {
    symbols.concrete(request ?? null);
    return true;
  } catch {
    return false;
  }
}

/** `{ pause }`, `{ watch: name, request }`, `{ take: name, count }`, `{ request }`; where they have an answer already, it is replaced. */
async function recordStep({ expect, count, ...step }, symbols, watches) {
  if (step.pause) {
    await setTimeout(step.pause);
    return step;
  }
  if (step.take) {
    const events = await watches.get(step.take).take(count ?? expect.events.length, EVENTS_TIMEOUT_MS);
    return { ...step, expect: { events: fromPort(symbols.abstract(events), port) } };
  }
  const request = symbols.concrete(step.request);
  if (step.watch) {
    const watch = await client.watch(request);
    watches.set(step.watch, watch);
    return { ...step, expect: { status: watch.status } };
  }
  const { status, warning, body } = await client.send(request);
  const answer = { status, body: fromPort(symbols.abstract(body, request.body), port), ...(warning !== undefined && { warning }) };
  return { ...step, expect: answer };
}

/** Replaces the scenario of that name in its area's file, or adds it at the end. One line a scenario. */
function keep(scenario) {
  const file = join(flags.corpus, `${scenario.name.split('/')[0]}.json`);
  const others = existsSync(file) ? readScenarios(file) : [];
  const place = others.findIndex(({ name }) => name === scenario.name);
  const all = place < 0 ? [...others, scenario] : others.with(place, scenario);
  mkdirSync(flags.corpus, { recursive: true });
  writeFileSync(file, `[\n${all.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);
}
