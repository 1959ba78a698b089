import { isJsonObject } from '../src/encoding/json.ts';
import type { Json, JsonObject } from '../src/encoding/json-types.ts';
import type { Answer } from './answer.ts';
import { type Difference, differencesOf } from './differences.ts';
import type { Hooks } from './hooks.ts';
import { explain } from './known.ts';
import { explainWhole } from './whole.ts';
import { SCENARIO, type ScenarioNames } from './placeholders.ts';
import type { Server } from './server.ts';
import { Side } from './side.ts';
import type { Step, Wait } from './step.ts';

/** The two servers, what their webhooks are, and where scenarios get their names. */
export interface Pair {
  reference: Server;
  server: Server;
  referenceHooks: Hooks;
  serverHooks: Hooks;
  names: ScenarioNames;
}

/** The first step at which the servers differ without an explanation. */
export interface Finding {
  stepIndex: number;
  differences: Difference[];
  reference: Answer;
  server: Answer;
}

export interface Outcome {
  /** Steps that were sent to both. */
  sent: number;
  /** How often each known difference was met. */
  explained: Map<string, number>;
  finding?: Finding;
  /** What a step waits for did not come: what followed may show no more than that. */
  hasWaitedInVain: boolean;
}

const WAIT_LIMIT_MS = 15_000;
const WAIT_INTERVAL_MS = 25;
/** Events that have not come after this will not come. */
const QUIET_MS = 100;
const WATCH_LIMIT_MS = 2500;
const SETTLE_LIMIT_MS = 10_000;
const SETTLE_INTERVAL_MS = 200;

const SCHEMA_IS_LATE = 'There can be a delay between when CustomResourceDefinitions are created and when they are available.';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Sends the steps to both servers, each step to both at once, until they differ; clears away what was made. */
export async function runSteps(pair: Pair, steps: readonly Step[], waitLimitMs = WAIT_LIMIT_MS): Promise<Outcome> {
  const name = pair.names.next();
  const reference = new Side(pair.reference, name, pair.referenceHooks.url);
  const server = new Side(pair.server, name, pair.serverHooks.url);
  const sides = [reference, server];
  const explained = new Map<string, number>();
  await Promise.all(sides.map(prepare));
  let sent = 0;
  let hasWaitedInVain = false;
  let finding: Finding | undefined;
  for (const [stepIndex, step] of steps.entries()) {
    const [one, other] = await performBoth(reference, server, step);
    addReviews(one, reference, pair.referenceHooks.take(name));
    addReviews(other, server, pair.serverHooks.take(name));
    sent++;
    const differences = differencesOf(one, other);
    const wholly = differences.length === 0 ? undefined : explainWhole(one, other);
    let isOver = false;
    const unexplained = differences.filter((difference) => {
      const known = wholly ?? explain(step, difference, steps.slice(0, stepIndex));
      if (known !== undefined) explained.set(known.name, (explained.get(known.name) ?? 0) + 1);
      isOver ||= known?.ends === true;
      return known === undefined;
    });
    if (unexplained.length > 0) {
      finding = { stepIndex, differences: unexplained, reference: one, server: other };
      break;
    }
    if (isOver) break;
    if (step.wait && one.status < 300) {
      const hasCome = await Promise.all(sides.map((side) => waitFor(side, step.wait!, waitLimitMs)));
      hasWaitedInVain ||= hasCome.includes(false);
    }
  }
  await Promise.all(sides.map(clearAway));
  return { sent, explained, hasWaitedInVain, ...(finding && { finding }) };
}

async function performBoth(reference: Side, server: Side, step: Step): Promise<[Answer, Answer]> {
  if (step.isWatch) return watchBoth(reference, server, step);
  const endMs = performance.now() + (step.settles ? SETTLE_LIMIT_MS : 0);
  for (;;) {
    const answers = await Promise.all([performReady(reference, step), performReady(server, step)]);
    if (performance.now() >= endMs || differencesOf(...answers).length === 0) return answers;
    await sleep(SETTLE_INTERVAL_MS);
  }
}

/** A policy that changes custom objects asks for their schema, which the reference looks for every five seconds; until then nothing is written. */
async function performReady(side: Side, step: Step): Promise<Answer> {
  const endMs = performance.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const answer = await side.perform(step);
    const isEarly = answer.status === 503 && isJsonObject(answer.body) && String(answer.body['message']).endsWith(SCHEMA_IS_LATE);
    if (!isEarly || performance.now() >= endMs) return answer;
    await sleep(SETTLE_INTERVAL_MS);
  }
}

function addReviews(answer: Answer, side: Side, reviews: Json[]): void {
  // Validating webhooks are asked at once: their order is nobody's choice.
  const told = reviews.map((review) => side.review(review)).map((review) => ({ review, key: String((review as JsonObject)['behaviour']) }));
  if (told.length > 0) answer.reviews = told.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ review }) => review);
}

/** What every scenario finds: a namespace of its own, and the account that pods there run as. */
async function prepare(side: Side): Promise<void> {
  await side.ask({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: SCENARIO, labels: { scenario: SCENARIO } } } });
  await side.ask({ method: 'POST', path: `/api/v1/namespaces/${SCENARIO}/serviceaccounts`, body: { metadata: { name: 'default' } } });
}

/** The namespace has no controller that would empty it; what would run out (ports, addresses) or slow everything down (CRDs) is deleted one by one. */
async function clearAway(side: Side): Promise<void> {
  for (const path of [...side.created].toReversed()) {
    await side.ask({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' } });
  }
  await side.ask({ method: 'DELETE', path: `/api/v1/namespaces/${SCENARIO}` });
  await side.ask({ method: 'PUT', path: `/api/v1/namespaces/${SCENARIO}/finalize`, body: { metadata: { name: SCENARIO }, spec: { finalizers: [] } } });
}

async function waitFor(side: Side, { request, status, not = false }: Wait, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (((await side.ask(request)) === status) !== not) return true;
    await sleep(WAIT_INTERVAL_MS);
  }
  return false;
}

async function watchBoth(reference: Side, server: Side, step: Step): Promise<[Answer, Answer]> {
  const sides = [reference, server];
  const streams = await Promise.all(sides.map((side) => side.openWatch(step)));
  const endMs = performance.now() + WATCH_LIMIT_MS;
  const isDone = (): boolean => {
    if (streams.every(({ isOver }) => isOver)) return true;
    if (performance.now() - Math.max(...streams.map(({ lastMs }) => lastMs)) < QUIET_MS) return false;
    const [one, other] = sides.map((side, index) => side.countEvents(streams[index]!));
    return one === other && streams[0]!.isOver === streams[1]!.isOver;
  };
  while (!isDone() && performance.now() < endMs) await sleep(WAIT_INTERVAL_MS);
  for (const stream of streams) stream.stop();
  return [reference.events(step, streams[0]!), server.events(step, streams[1]!)];
}
