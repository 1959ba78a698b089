import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from './support/api-client.ts';
import { startServer } from './support/server.ts';
import { ALLOWED, WebhookServer } from './support/webhook-server.ts';

/* What the reference (v1.36.4) does and asks admission when it deletes, where `npm run compare` found the two to differ: one test a rule. */

const NAMESPACE = '/api/v1/namespaces/deleted';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/deleted/deployments';
const TEMPLATE = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

let api: ApiClient;
let hook: WebhookServer;

beforeAll(async () => {
  api = (await startServer()).client();
  await api.create('/api/v1/namespaces', { metadata: { name: 'deleted' } });
  await api.create(`${NAMESPACE}/serviceaccounts`, { metadata: { name: 'default' } });
  hook = await new WebhookServer().listen();
  const rules = [{ operations: ['DELETE'], apiGroups: ['*'], apiVersions: ['*'], resources: ['pods', 'configmaps', 'deployments'] }];
  const webhook = { name: 'deletes.example.com', clientConfig: hook.clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', { metadata: { name: 'deletes' }, webhooks: [webhook] });
});

const makePod = async (name: string, finalizers?: string[]): Promise<string> => {
  await api.create(`${NAMESPACE}/pods`, { metadata: { name, finalizers }, spec: { ...TEMPLATE.spec, automountServiceAccountToken: false } });
  return `${NAMESPACE}/pods/${name}`;
};

interface Metadata {
  name: string;
  finalizers?: string[];
  deletionTimestamp?: string;
}

/** What admission was asked of the object since: whether it was marked as being deleted, and by what it was held. */
const asked = (name: string): { isMarked: boolean; finalizers: string[] }[] =>
  hook.requests
    .map(({ oldObject }) => oldObject!['metadata'] as Metadata)
    .filter((metadata) => metadata.name === name)
    .map(({ deletionTimestamp, finalizers = [] }) => ({ isMarked: deletionTimestamp !== undefined, finalizers }));

describe('admission is asked', () => {
  test.each([
    ['alone', (path: string) => path],
    ['among others', () => `${NAMESPACE}/pods?labelSelector=!kept`],
  ])('about a pod without a node before it is marked, and before it is removed: %s', async (how, pathOf) => {
    const name = how.replace(' ', '-');
    await api.expect(200, { method: 'DELETE', path: pathOf(await makePod(name)) });
    expect(asked(name)).toEqual([
      { isMarked: false, finalizers: [] },
      { isMarked: true, finalizers: [] },
    ]);
  });

  test('once by a dry run', async () => {
    await api.expect(200, { method: 'DELETE', path: `${await makePod('dry')}?dryRun=All` });
    expect(asked('dry')).toEqual([{ isMarked: false, finalizers: [] }]);
  });

  test('twice about what only the garbage collector held, which is let go', async () => {
    await api.create(`${NAMESPACE}/configmaps`, { metadata: { name: 'held', finalizers: ['orphan'] } });
    await api.expect(200, { method: 'DELETE', path: `${NAMESPACE}/configmaps/held?propagationPolicy=Background` });
    const held = { isMarked: false, finalizers: ['orphan'] };
    expect(asked('held')).toEqual([held, held]);
  });

  test('once about what is free to go, or stays held', async () => {
    for (const [name, finalizers] of Object.entries({ free: undefined, stays: ['example.com/x'] })) {
      await api.create(`${NAMESPACE}/configmaps`, { metadata: { name, finalizers } });
      await api.expect(200, { method: 'DELETE', path: `${NAMESPACE}/configmaps/${name}` });
      expect(asked(name)).toHaveLength(1);
    }
  });
});

test('a pod whose removal is refused stays, marked', async () => {
  const path = await makePod('refused');
  hook.respond = ({ oldObject }) => ((oldObject!['metadata'] as Metadata).deletionTimestamp === undefined ? ALLOWED : { allowed: false });
  await api.expect(400, { method: 'DELETE', path });
  hook.respond = () => ALLOWED;
  const { metadata } = (await api.expect(200, { path })).json<{ metadata: object }>();
  expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
});

test('a marked pod that another request removes meanwhile counts as deleted', async () => {
  const path = await makePod('raced');
  let isFirst = true;
  hook.respond = ({ oldObject }) => {
    if ((oldObject!['metadata'] as Metadata).deletionTimestamp === undefined || !isFirst) return ALLOWED;
    isFirst = false;
    return (response) =>
      void api
        .expect(200, { method: 'DELETE', path })
        .then(() =>
          response.end(
            JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: hook.requests.at(-2)!.uid, ...ALLOWED } }),
          ),
        );
  };
  const answer = await api.expect(200, { method: 'DELETE', path });
  hook.respond = () => ALLOWED;
  expect(answer.json()).toMatchObject({ kind: 'Pod', metadata: { name: 'raced' } });
  await api.expect(404, { path });
});

describe('finalizers of the garbage collector that are let go', () => {
  test('are gone from the pod that is answered', async () => {
    const answer = await api.expect(200, { method: 'DELETE', path: `${await makePod('answered', ['orphan'])}?propagationPolicy=Background` });
    expect(answer.json<{ metadata: object }>().metadata).not.toHaveProperty('finalizers');
  });

  test('make a dry run answer with an object that nothing was read into', async () => {
    const metadata = { name: 'empty', finalizers: ['foregroundDeletion'] };
    await api.create(`${NAMESPACE}/configmaps`, { metadata, data: { a: 'b' } });
    await api.create(DEPLOYMENTS, { metadata, spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: TEMPLATE } });
    const dryRun = async (collection: string): Promise<unknown> =>
      (await api.expect(200, { method: 'DELETE', path: `${collection}/empty?dryRun=All&propagationPolicy=Background` })).json();
    expect(await dryRun(`${NAMESPACE}/configmaps`)).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata: {} });
    expect(await dryRun(DEPLOYMENTS)).toMatchObject({ kind: 'Deployment', metadata: {}, spec: { replicas: 0, selector: null } });
    await api.expect(200, { path: `${NAMESPACE}/configmaps/empty` });
  });
});
