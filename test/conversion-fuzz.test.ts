import { beforeAll, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';
import { type Responder, WebhookServer } from './support/webhook-server.ts';

/*
 * A conversion webhook that answers with anything: objects, reviews and bytes changed at random, by seed. Whatever it says, every request is answered, with the
 * webhook's fault named where that is why it failed, and the server goes on.
 */

const SEED = Number(process.env['CONVERSION_SEED'] ?? 16);
/** CONVERSION_ROUNDS=250 takes a minute or two. */
const ROUNDS = Number(process.env['CONVERSION_ROUNDS'] ?? 15);
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'fuzz.example.com';

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = generator(SEED);
const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

type Value = unknown;
const VALUES: readonly (() => Value)[] = [
  () => null,
  () => undefined,
  () => 0,
  () => -1.5,
  () => 1e300,
  () => true,
  () => '',
  () => 'text',
  () => 'a/b/c',
  () => `${GROUP}/v${1 + Math.floor(random() * 4)}`,
  () => '\ud800',
  () => 'x'.repeat(5000),
  () => [],
  () => [null],
  () => [[{}]],
  () => ({}),
  () => ({ a: { b: [1, 'c', null] } }),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as Value,
  () => ({ kind: 'Thing', apiVersion: `${GROUP}/v2`, metadata: { name: 'x' }, items: [] }),
];

/** A copy with some of its values replaced, removed, doubled or added. */
function mutated(value: Value, chance: number): Value {
  if (random() < chance) return pick(VALUES)();
  if (Array.isArray(value)) {
    const items = value.map((item) => mutated(item, chance));
    if (random() < chance) items.push(mutated(items[0] ?? {}, chance));
    if (random() < chance) items.pop();
    return items;
  }
  if (value === null || typeof value !== 'object') return value;
  const copy: Record<string, Value> = {};
  for (const [key, content] of Object.entries(value)) if (random() >= chance / 2) copy[key] = mutated(content, chance);
  if (random() < chance) copy[pick(['spec', 'status', 'metadata', 'kind', 'zzz', 'items', 'a.b/c', ''])] = pick(VALUES)();
  return copy;
}

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: { spec?: { size?: number; width?: number } }[];
}

function convert({ desiredAPIVersion, objects }: ConversionRequest): object {
  const convertedObjects = objects.map((object) => {
    const amount = object.spec?.size ?? object.spec?.width;
    return { ...object, apiVersion: desiredAPIVersion, spec: desiredAPIVersion.endsWith('/v2') ? { width: amount } : { size: amount } };
  });
  return { result: { status: 'Success' }, convertedObjects };
}

/** What of the answer is changed: the objects, the response, the review as a whole, or its bytes. */
function fuzzed(request: ConversionRequest, apiVersion: string): object | string {
  const response = convert(request) as { convertedObjects: Value[] };
  const kind = pick(['object', 'object', 'object', 'response', 'review', 'bytes', 'none'] as const);
  if (kind === 'none') return response;
  if (kind === 'object') return { ...response, convertedObjects: response.convertedObjects.map((object) => mutated(object, pick([0.02, 0.1, 0.4]))) };
  if (kind === 'response') return { ...(mutated(response, 0.2) as object) };
  const review = { kind: 'ConversionReview', apiVersion, response: { uid: request.uid, ...response } };
  const text = JSON.stringify(kind === 'review' ? mutated(review, 0.15) : review) ?? '';
  if (kind === 'review') return text;
  const bytes = Buffer.from(text);
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return (random() < 0.3 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes) as unknown as string;
}

let api: ApiClient;
let converter: WebhookServer;

beforeAll(async () => {
  api = (await startServer()).client();
  converter = await new WebhookServer(((request: ConversionRequest) => convert(request)) as unknown as Responder).listen();
  const integer = { type: 'integer' };
  const version = (name: string, field: string): object => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { [field]: integer, list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } } },
          status: { type: 'object', properties: { ready: integer } },
        },
      },
    },
  });
  await api.create(DEFINITIONS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', singular: 'thing' },
      versions: [version('v1', 'size'), version('v2', 'width')],
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: converter.clientConfig } },
    },
  });
});

const things = (version: string): string => `/apis/${GROUP}/${version}/namespaces/default/things`;
const thing = (version: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion: `${GROUP}/${version}`, kind: 'Thing', metadata: { name }, spec });

interface Sent {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What one round sends, all through the version that is not stored. */
function requestsOf(name: string): Sent[] {
  const path = `${things('v2')}/${name}`;
  const patch = (type: string, body: string, query = ''): Sent => ({ method: 'PATCH', path: path + query, headers: { 'content-type': type }, body });
  return [
    { method: 'POST', path: things('v2'), body: thing('v2', `new-${name}`, { width: 2 }) },
    { path },
    { path: things('v2') },
    { path: `${things('v2')}?labelSelector=a%3Db` },
    { method: 'PUT', path, body: thing('v2', name, { width: 4 }) },
    patch('application/merge-patch+json', '{"spec":{"width":5}}'),
    patch('application/apply-patch+yaml', thing('v2', name, { width: 6, list: ['a'] }), '?fieldManager=f&force=true'),
    { method: 'PATCH', path: `${path}/status`, headers: { 'content-type': 'application/merge-patch+json' }, body: '{"status":{"ready":1}}' },
    { method: 'POST', path: `${things('v2')}?dryRun=All`, body: thing('v2', `dry-${name}`, { width: 2 }) },
    { method: 'DELETE', path },
    { method: 'DELETE', path: `${things('v2')}?labelSelector=a%3Db` },
  ];
}

/** Where the webhook's answer is why a request failed, the message says so, or is that of the decoder that read it. */
const FAULTS = [
  /^conversion webhook for /,
  /^Object 'Kind' is missing in /,
  /^json: /,
  /^unexpected end of JSON input$/,
  /^invalid character /,
  /^\.|^errors:\n|^failed to /,
  /Invalid value/,
  /cannot unmarshal/,
];

test(`whatever the converter answers, every request is answered (seed ${SEED})`, { timeout: 30_000 + ROUNDS * 2000 }, async () => {
  const seen = new Map<number, number>();
  let asked = 0;
  const honest = ((request: ConversionRequest) => convert(request)) as unknown as Responder;
  for (let round = 0; round < ROUNDS; round++) {
    const name = `t${round}`;
    converter.respond = honest;
    await api.expect(201, { method: 'POST', path: things('v1'), body: thing('v1', name, { size: 3, list: ['z'] }) });
    const watch = await api.watch(`${things('v2')}?watch=1&fieldSelector=metadata.name%3D${name}`);
    converter.respond = ((request: ConversionRequest) => {
      asked++;
      return fuzzed(request, 'apiextensions.k8s.io/v1');
    }) as unknown as Responder;
    for (const request of requestsOf(name)) {
      const answer = await api.send(request);
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      if (answer.status < 500) continue;
      const { message } = answer.json<{ message: string }>();
      const isToldSo = FAULTS.some((fault) => fault.test(message));
      if (answer.status !== 500 || !isToldSo) throw new Error(`${request.method ?? 'GET'} ${request.path}: ${answer.status} ${message}`);
      expect(message).not.toMatch(/reading '|undefined|is not a function|is not iterable/);
    }
    watch.response.destroy();
    converter.respond = honest;
    await api.expect(200, { method: 'DELETE', path: things('v1') });
  }
  expect(asked).toBeGreaterThan(ROUNDS * 8);
  expect([...seen.keys()].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([200, 201, 500]));
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await api.send({ path: '/readyz' })).status).toBe(200);
});
