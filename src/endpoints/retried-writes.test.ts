import { describe, expect, test } from 'vitest';
import { endpoints } from '../apis/core/endpoints.ts';
import { networkPolicies } from '../apis/networking/network-policy.ts';
import { resourceClaimTemplates } from '../apis/resource/resource-claim-template.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { GenericStore } from '../registry/generic-store.ts';
import { CacheFeed } from '../storage/cache/feed.ts';
import { openCache } from '../storage/cache/object-cache.ts';
import { jsonCodec } from '../storage/codec.ts';
import type { StorageChange, Engine } from '../storage/engine.ts';
import { openMemoryEngine } from '../storage/engines/memory.ts';
import type { ResourceTarget } from './target.ts';
import { environment, serve } from './test-support.ts';

/* A write that another writer came before is tried again, and ends as it would have ended the first time. */

interface Race {
  target: ResourceTarget;
  engine: Engine;
  /** How many of the next commits another writer comes before. */
  lose(count: number): void;
}

/** `rival` writes what the other writer does, through the engine itself. */
async function raceOf(definition: ResourceDefinition, rival: (engine: Engine, change: StorageChange) => Promise<unknown>): Promise<Race> {
  const engine = openMemoryEngine();
  let losses = 0;
  const commit = engine.commit.bind(engine);
  engine.commit = async (change) => {
    if (losses > 0) {
      losses--;
      await rival(engine, change);
    }
    return commit(change);
  };
  const keyPrefix = `/registry/${definition.storage.prefix}/`;
  const cache = openCache(new CacheFeed(engine), keyPrefix, { codec: jsonCodec });
  await cache.ready;
  const store = new GenericStore({
    definition,
    engine,
    cache,
    codec: jsonCodec,
    keyPrefix,
    admission: { mutate() {}, validate() {} },
    collectsGarbage: true,
    deleteWorkers: 1,
    now: () => new Date('2026-01-01T00:00:00Z'),
  });
  return { target: { store, served: definition.served[0]!, isCustom: false, environment }, engine, lose: (count) => (losses = count) };
}

/** Writes the present value once more with another annotation, as a controller does that annotates what it sees. */
async function annotate(engine: Engine, { key }: StorageChange): Promise<void> {
  const { value, revision } = (await engine.get(key))!;
  const object = JSON.parse(value.toString()) as { metadata: { annotations?: object } };
  object.metadata.annotations = { rival: String(revision) };
  await engine.commit({ type: 'put', key, value: Buffer.from(JSON.stringify(object)), expected: revision });
}

const policy = (metadata: object, spec: object): object => ({ kind: 'NetworkPolicy', apiVersion: 'networking.k8s.io/v1', metadata, spec });
const POLICIES = '/apis/networking.k8s.io/v1/namespaces/ns/networkpolicies';

describe('lists that were sent empty', () => {
  test.each([0, 1, 3])('make a new generation of a PUT that lost %i times', async (losses) => {
    const { target, lose } = await raceOf(networkPolicies as unknown as ResourceDefinition, annotate);
    await serve(target, 'POST', POLICIES, { body: policy({ name: 'a' }, { podSelector: {} }) });
    lose(losses);
    const { exchange } = await serve(target, 'PUT', `${POLICIES}/a`, { body: policy({ name: 'a' }, { podSelector: {}, ingress: [] }) });
    expect([exchange.status, exchange.json.metadata]).toMatchObject([200, { generation: 2 }]);
  });

  test.each([0, 2])('make a new generation of a PUT that forgets all owners and lost %i times', async (losses) => {
    const { target, lose } = await raceOf(networkPolicies as unknown as ResourceDefinition, annotate);
    await serve(target, 'POST', POLICIES, { body: policy({ name: 'a' }, { podSelector: {} }) });
    lose(losses);
    const { exchange } = await serve(target, 'PUT', `${POLICIES}/a`, { body: policy({ name: 'a', managedFields: [] }, { podSelector: {}, ingress: [] }) });
    expect([exchange.status, exchange.json.metadata]).toMatchObject([200, { generation: 2 }]);
  });

  test.each([0, 2])('make a new generation of a patch that lost %i times', async (losses) => {
    const { target, lose } = await raceOf(networkPolicies as unknown as ResourceDefinition, annotate);
    await serve(target, 'POST', POLICIES, { body: policy({ name: 'a' }, { podSelector: {} }) });
    lose(losses);
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { exchange } = await serve(target, 'PATCH', `${POLICIES}/a`, { headers, body: { spec: { ingress: [] } } });
    expect([exchange.status, exchange.json.metadata]).toMatchObject([200, { generation: 2 }]);
  });

  test.each([{ name: 't' }, { generateName: 't-' }])('are in what is said of a claim template with %j', async (metadata) => {
    const { target } = await raceOf(resourceClaimTemplates as unknown as ResourceDefinition, annotate);
    const spec = { metadata: { finalizers: [] }, spec: {} };
    const body = { kind: 'ResourceClaimTemplate', apiVersion: 'resource.k8s.io/v1', metadata, spec };
    const { exchange } = await serve(target, 'POST', '/apis/resource.k8s.io/v1/namespaces/ns/resourceclaimtemplates', { body });
    expect([exchange.status, exchange.json.message]).toEqual([422, expect.stringMatching(/is invalid: spec\.metadata\.finalizers: Forbidden: cannot be set$/)]);
  });
});

describe('what an update creates, and another writer creates first', () => {
  const addresses = (ip: string): object[] => [{ addresses: [{ ip }] }];
  const object = (metadata: object, ip: string): object => ({ kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: addresses(ip) });
  const createFirst = (engine: Engine, { key }: StorageChange): Promise<unknown> => {
    const value = object({ name: 'e', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' }, '10.0.0.1');
    return engine.commit({ type: 'put', key, value: Buffer.from(JSON.stringify(value)), expected: 0 });
  };

  test.each([
    ['PUT', 'application/json', 'fieldManager=me'],
    ['PATCH', 'application/apply-patch+yaml', 'fieldManager=me&force=true'],
  ])('%s as %s is an update of it', async (method, type, query) => {
    const { target, lose } = await raceOf(endpoints as unknown as ResourceDefinition, createFirst);
    lose(1);
    const sent = { headers: { 'content-type': type }, body: object({ name: 'e' }, '10.0.0.2') };
    const { exchange } = await serve(target, method, `/api/v1/namespaces/ns/endpoints/e?${query}`, sent);
    expect([exchange.status, exchange.json]).toMatchObject([200, { metadata: { uid: 'u' }, subsets: addresses('10.0.0.2') }]);
  });
});
