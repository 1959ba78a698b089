import { expect, test } from 'vitest';
import { stringifyJson } from '../../src/encoding/json.ts';
import type { Answer, ApiClient, ApiRequest } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';
import { type ExampleKind, NAMESPACE, exampleKinds, freshCopy } from './examples.ts';
import { mutate } from './mutation.ts';
import { Random } from '../../src/util/test-random.ts';
import { vary } from './variation.ts';

/* Whatever is sent, the server answers: soon, and never with a fault of its own. */

const SEED = Number(process.env.KINDS_SEED ?? 1);
const OBJECTS = Number(process.env.KINDS_MUTATIONS ?? 10_000);
const MAX_ANSWER_MS = 100;
/** A slow answer may be the machine's doing; one that is slow every time is ours. */
const ATTEMPTS = 3;
/** What the reference finds in its storage layer, and answers with a 500 too. */
const RECORDED_FAULT = /resourceVersion should not be set on objects to be created/;
const SHOWN_CHARS = 500;
const PATCHES = ['application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'];

interface BrokenRequest extends ApiRequest {
  body: string;
}

interface Problem {
  request: string;
  body: string;
  problem: string;
}

test(`${OBJECTS} broken objects`, { timeout: 300_000 }, async () => {
  const server = await startServer();
  const client = server.client();
  await client.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await client.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  const kinds = exampleKinds();
  const whole = new Map<ExampleKind, string>();
  for (const kind of kinds) {
    const object = freshCopy(kind, kind.examples[0]!);
    await client.send({ method: 'POST', path: kind.path, body: object });
    whole.set(kind, (object['metadata'] as { name: string }).name);
  }

  const random = new Random(SEED);
  const problems: Problem[] = [];
  for (let count = 0; count < OBJECTS && problems.length < 20; count++) {
    const kind = kinds[count % kinds.length]!;
    const request = brokenRequest(kind, whole.get(kind)!, random);
    const problem = await trySending(client, request);
    if (problem !== undefined) problems.push({ request: `${request.method} ${request.path}`, body: request.body.slice(0, SHOWN_CHARS), problem });
  }
  expect({ problems, said: problems.length > 0 ? server.lines.filter((line) => /^[EF]/.test(line)) : [] }).toEqual({ problems: [], said: [] });
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

/** A broken object as a new one, in place of the one that is there, or as a patch of it. */
function brokenRequest(kind: ExampleKind, existing: string, random: Random): BrokenRequest {
  const object = freshCopy(kind, random.pick(kind.examples));
  const isNew = random.chance(0.6);
  if (!isNew) (object['metadata'] as { name?: string }).name = existing;
  if (random.chance(0.5)) vary(kind.schema, object, random);
  mutate(object, random);
  const body = stringifyJson(object);
  // Most are only looked at; some are kept.
  const query = `?fieldManager=test&fieldValidation=${random.pick(['Strict', 'Warn', 'Ignore'])}${random.chance(0.9) ? '&dryRun=All' : ''}`;
  if (isNew) return { method: 'POST', path: kind.path + query, body };
  const path = `${kind.path}/${existing}${random.chance(0.2) ? '/status' : ''}${query}`;
  return random.chance(0.5) ? { method: 'PUT', path, body } : { method: 'PATCH', path, body, headers: { 'content-type': random.pick(PATCHES) } };
}

/** What is wrong with the answer; undefined where nothing is. */
async function trySending(client: ApiClient, request: ApiRequest): Promise<string | undefined> {
  let elapsedMs = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const startMs = performance.now();
    const answer = await client.send(request).catch((error: Error) => error);
    elapsedMs = performance.now() - startMs;
    if (answer instanceof Error) return answer.message;
    if (answer.status >= 500 && !isReferences(request, answer)) return `${answer.status}: ${answer.text.slice(0, SHOWN_CHARS)}`;
    if (elapsedMs <= MAX_ANSWER_MS) return undefined;
  }
  return `answered after ${elapsedMs.toFixed(0)} ms`;
}

/** Whether the reference answers with a 500 as well: to what its libraries of patches do not like, it answers with their bare words and no reason. */
const isReferences = ({ method }: ApiRequest, { text }: Answer): boolean =>
  RECORDED_FAULT.test(text) || (method === 'PATCH' && (JSON.parse(text) as { reason?: string }).reason === undefined);
