import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, TestEvent, TestList, TestObject } from './support/api-client.ts';
import { startServer } from './support/server.ts';

/* Lists and watches whose selector has an equality are found by index (src/storage/cache/indexes.ts): they show what all others do. */

const THINGS = '/apis/example.com/v1/namespaces/default/things';
const EVERYWHERE = '/apis/example.com/v1/things';
const PODS = '/api/v1/namespaces/default/pods';

let api: ApiClient;

beforeAll(async () => {
  api = (await startServer()).client();
  const spec = { type: 'object', properties: { host: { type: 'string' }, count: { type: 'integer' } } };
  await api.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          selectableFields: [{ jsonPath: '.spec.host' }],
        },
      ],
    },
  });
});

const thing = (name: string, value: string, count: number): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, labels: { app: value, tier: 'back' } },
  spec: { host: value, count },
});

const shown = ({ type, object }: TestEvent): string => `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`;
const names = ({ items }: TestList): string[] => items.map(({ metadata }) => metadata.name);

/** An object that is made, comes to match, is changed, ceases to match, comes again and is deleted; `expected` is what a watcher is told. */
async function changes(name: string): Promise<{ first: TestObject; expected: string[] }> {
  const first = await api.create(THINGS, thing(name, 'other', 0));
  const expected: string[] = [];
  const steps = [
    ['wanted', 'ADDED'],
    ['wanted', 'MODIFIED'],
    ['other', 'DELETED'],
    ['wanted', 'ADDED'],
  ] as const;
  for (const [index, [value, type]] of steps.entries()) {
    const { metadata } = await api.expect(200, { method: 'GET', path: `${THINGS}/${name}` }).then((answer) => answer.json());
    const next = thing(name, value, index + 1) as { metadata: object };
    const updated = await api.update(`${THINGS}/${name}`, { ...next, metadata: { ...next.metadata, resourceVersion: metadata.resourceVersion } });
    expected.push(`${type} ${name}@${updated.metadata.resourceVersion}`);
  }
  await api.delete(`${THINGS}/${name}`);
  return { first, expected };
}

describe.each([
  ['a field', THINGS, 'fieldSelector=spec.host%3Dwanted'],
  ['a field, in all namespaces', EVERYWHERE, 'fieldSelector=spec.host%3Dwanted'],
  ['a field and a namespace', EVERYWHERE, 'fieldSelector=metadata.namespace%3Ddefault,spec.host%3Dwanted'],
  ['a label', THINGS, 'labelSelector=app%3Dwanted'],
  ['one of some labels', EVERYWHERE, 'labelSelector=app%20in%20(missing,wanted)'],
  ['labels and a field', EVERYWHERE, 'labelSelector=tier%3Dback,app!%3Dother&fieldSelector=spec.host%3Dwanted'],
])('a watch by %s', (what, path, selector) => {
  const name = what.replaceAll(/[^a-z]+/g, '-');

  test('sees what comes to match and ceases to, live and from history', async () => {
    const stay = await api.create(THINGS, thing(`stay-${name}`, 'wanted', 0));
    const live = await api.watch(`${path}?watch=1&${selector}`);
    const list = `${path}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=&${selector}`;
    const withState = await api.watch(list);
    expect((await live.take(1)).map(shown)).toEqual([`ADDED stay-${name}@${stay.metadata.resourceVersion}`]);
    const [state, bookmark] = await withState.take(2);
    expect(shown(state!)).toBe(`ADDED stay-${name}@${stay.metadata.resourceVersion}`);
    expect(bookmark!.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });

    const { first, expected } = await changes(name);
    const past = await api.watch(`${path}?watch=1&resourceVersion=${first.metadata.resourceVersion}&${selector}`);
    for (const watch of [live, withState, past]) {
      const events = (await watch.take(expected.length + 1)).map(shown);
      expect(events.slice(0, -1)).toEqual(expected);
      expect(events.at(-1)).toMatch(new RegExp(`^DELETED ${name}@`));
      watch.stop();
    }
    expect(names(await api.get<TestList>(`${path}?${selector}`))).toEqual([`stay-${name}`]);
    await api.delete(`${THINGS}/stay-${name}`);
  });
});

test('a namespace that the selector names is not one that the path does not', async () => {
  await api.create(THINGS, thing('hidden', 'wanted', 0));
  const selector = 'fieldSelector=metadata.namespace%3Ddefault';
  expect(names(await api.get<TestList>(`/apis/example.com/v1/namespaces/kube-system/things?${selector}`))).toEqual([]);
  expect(names(await api.get<TestList>(`${EVERYWHERE}?${selector}`))).toEqual(['hidden']);
  await api.delete(`${THINGS}/hidden`);
});

test('pages of a selection are of one state', async () => {
  for (let i = 0; i < 7; i++) await api.create(THINGS, thing(`page-${i}`, i % 2 === 0 ? 'paged' : 'other', 0));
  const selector = 'labelSelector=app%3Dpaged';
  const first = await api.get<TestList>(`${THINGS}?limit=2&${selector}`);
  expect(names(first)).toEqual(['page-0', 'page-2']);
  await api.delete(`${THINGS}/page-4`);
  const second = await api.get<TestList>(`${THINGS}?limit=2&${selector}&continue=${first.metadata.continue}`);
  expect(names(second)).toEqual(['page-4', 'page-6']);
  expect(second.metadata).toMatchObject({ resourceVersion: first.metadata.resourceVersion, continue: '' });
  expect(names(await api.get<TestList>(`${THINGS}?${selector}`))).toEqual(['page-0', 'page-2', 'page-6']);
});

test('a node sees the pods that are bound to it, from then on', async () => {
  await api.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  const path = '/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D';
  const nodes = await Promise.all(['one', 'two'].map((node) => api.watch(`${path}${node}`)));
  const unbound = await api.watch(path);
  for (const node of ['one', 'two']) {
    await api.create(PODS, { metadata: { name: `on-${node}` }, spec: { containers: [{ name: 'app', image: 'app' }] } });
    await api.create(`${PODS}/on-${node}/binding`, { metadata: { name: `on-${node}` }, target: { kind: 'Node', name: node } });
  }
  const told = async (events: Promise<TestEvent[]>): Promise<string[]> => (await events).map(({ type, object }) => `${type} ${object.metadata.name}`);
  expect(await told(nodes[0]!.take(1))).toEqual(['ADDED on-one']);
  expect(await told(nodes[1]!.take(1))).toEqual(['ADDED on-two']);
  expect(await told(unbound.take(4))).toEqual(['ADDED on-one', 'DELETED on-one', 'ADDED on-two', 'DELETED on-two']);
  expect(names(await api.get<TestList>('/api/v1/pods?fieldSelector=spec.nodeName%3Dtwo'))).toEqual(['on-two']);
  for (const watch of [...nodes, unbound]) watch.stop();
});
