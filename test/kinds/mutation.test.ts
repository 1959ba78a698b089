import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/util/json.ts';
import type { ApiClient, Answer } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';
import { type ExampleKind, NAMESPACE, exampleKinds, freshCopy } from './examples.ts';
import { mutate } from './mutation.ts';
import { Random } from './random.ts';
import { vary } from './variation.ts';

/* Whatever is sent, the server answers: soon, and never with a fault of its own. */

const SEED = Number(process.env.KINDS_SEED ?? 1);
const OBJECTS = Number(process.env.KINDS_MUTATIONS ?? 10_000);
const MAX_ANSWER_MS = 100;
/** A slow answer may be the machine's doing; one that is slow every time is ours. */
const ATTEMPTS = 3;
/** The reference finds it in its storage layer, and answers with a 500 too. */
const RECORDED_FAULTS = /resourceVersion should not be set on objects to be created/;

interface Problem {
  kind: string;
  sent: string;
  problem: string;
}

test(`${OBJECTS} broken objects`, { timeout: 300_000 }, async () => {
  const server = await startServer();
  const client = server.client();
  await client.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await client.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  const kinds = exampleKinds();
  const random = new Random(SEED);
  const problems: Problem[] = [];
  for (let count = 0; count < OBJECTS && problems.length < 20; count++) {
    const kind = kinds[count % kinds.length]!;
    const sent = brokenObject(kind, random);
    const problem = await tryObject(client, kind, sent, random);
    if (problem !== undefined) problems.push({ kind: kind.name, sent: sent.slice(0, 2000), problem });
  }
  expect({ problems, said: problems.length > 0 ? server.lines.filter((line) => /^[EF]/.test(line)) : [] }).toEqual({ problems: [], said: [] });
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

function brokenObject(kind: ExampleKind, random: Random): string {
  const object = freshCopy(kind, random.pick(kind.examples));
  if (random.chance(0.5)) vary(kind.schema, object, random);
  mutate(object, random);
  return stringifyJson(object);
}

/** What is wrong with the answer; undefined where nothing is. */
async function tryObject(client: ApiClient, kind: ExampleKind, body: string, random: Random): Promise<string | undefined> {
  // Most are only looked at; some are kept, and changed.
  const path = `${kind.path}?fieldValidation=${random.pick(['Strict', 'Warn', 'Ignore'])}${random.chance(0.9) ? '&dryRun=All' : ''}`;
  let elapsedMs = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const startMs = performance.now();
    const answer = await client.send({ method: 'POST', path, body }).catch((error: Error) => error);
    elapsedMs = performance.now() - startMs;
    const fault = answer instanceof Error ? answer.message : faultOf(answer);
    if (fault !== undefined) return fault;
    if (elapsedMs <= MAX_ANSWER_MS) return undefined;
  }
  return `answered after ${elapsedMs.toFixed(0)} ms`;
}

const faultOf = ({ status, text }: Answer): string | undefined => (status >= 500 && !RECORDED_FAULTS.test(text) ? `${status}: ${text}` : undefined);
