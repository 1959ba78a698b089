import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { delegatedServer, eventually, register, startFront, waitForAvailability } from './support/aggregation.ts';
import type { Answer, ApiClient, ApiRequest, TestList, TestObject } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { ServerProcess, temporaryFolder } from './support/server.ts';

/* A real second API server behind the first: Binnacle behind Binnacle, which it asks who somebody is and what they may. */

const GROUP = 'wardle.example.com';
const NAME = `v1.${GROUP}`;
const FLUNDERS = `/apis/${GROUP}/v1/namespaces/default/flunders`;
const HEAL_MS = 3_000;

const definition = {
  metadata: { name: `flunders.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'flunders', singular: 'flunder', kind: 'Flunder', shortNames: ['fl'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [{ name: 'Fish', type: 'string', jsonPath: '.spec.fish' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A flunder is a fish.',
            properties: {
              spec: { type: 'object', properties: { fish: { type: 'string', description: 'Which one.' }, replicas: { type: 'integer' } } },
              status: { type: 'object', properties: { replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

let front: ServerProcess;
let back: ServerProcess;
let direct: ApiClient;
let through: ApiClient;
let kubectl: Clients;
let startBack: (port?: number) => Promise<ServerProcess>;

const flunder = (name: string, fish = 'herring'): object => ({ apiVersion: `${GROUP}/v1`, kind: 'Flunder', metadata: { name }, spec: { fish, replicas: 1 } });

beforeAll(async () => {
  front = await startFront();
  const { flags, client } = delegatedServer(front, 'ext');
  const dataDir = temporaryFolder();
  startBack = (port = 0) => new ServerProcess({ storage: 'embedded', dataDir, port, flags, hasAuthorizationMode: false }).ready();
  back = await startBack();
  direct = client(back.port, 'admin-token');
  through = front.client();
  kubectl = new Clients(front);
  await direct.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await eventually(() => direct.get(FLUNDERS));
  await register(front, GROUP, 'v1', 'ext', back.port);
  await waitForAvailability(front, NAME, 'Passed');
}, 60_000);

afterAll(async () => {
  await Promise.all([front?.stop(), back?.stop()]);
});

/** What a client sees, but for what tells one request from another: a dry run's time is that of the request. */
const seen = ({ status, headers, body }: Answer): object => ({
  status,
  type: headers['content-type'],
  warning: headers['warning'],
  body: body.toString('latin1').replaceAll(/"time":"[^"]+"/g, '"time":""'),
});

describe('what passes through the front is what the server says itself', () => {
  beforeAll(async () => {
    for (const name of ['one', 'two', 'three']) await through.create(FLUNDERS, flunder(name));
  });

  test.each<[string, ApiRequest]>([
    ['get', { path: `${FLUNDERS}/one` }],
    ['a get of what is not there', { path: `${FLUNDERS}/none` }],
    ['list', { path: FLUNDERS }],
    ['a list in chunks', { path: `${FLUNDERS}?limit=1` }],
    ['a list by selector', { path: `${FLUNDERS}?fieldSelector=metadata.name%3Dtwo` }],
    ['a bad selector', { path: `${FLUNDERS}?labelSelector=%21%21` }],
    ['a table', { path: FLUNDERS, headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } }],
    ['metadata alone', { path: `${FLUNDERS}/one`, headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }],
    ['YAML', { path: `${FLUNDERS}/one`, headers: { accept: 'application/yaml' } }],
    ['what is not acceptable', { path: FLUNDERS, headers: { accept: 'text/html' } }],
    ['all namespaces', { path: `/apis/${GROUP}/v1/flunders` }],
    ['scale', { path: `${FLUNDERS}/one/scale` }],
    ['legacy discovery', { path: `/apis/${GROUP}/v1` }],
    ['an unknown resource', { path: `/apis/${GROUP}/v1/namespaces/default/others` }],
    ['HEAD', { method: 'HEAD', path: `${FLUNDERS}/one` }],
    ['a body that is no JSON', { method: 'POST', path: FLUNDERS, body: '{', headers: { 'content-type': 'application/json' } }],
    [
      'a dry run',
      { method: 'PATCH', path: `${FLUNDERS}/one?dryRun=All`, body: '{"spec":{"fish":"cod"}}', headers: { 'content-type': 'application/merge-patch+json' } },
    ],
    ['an invalid object', { method: 'PUT', path: `${FLUNDERS}/one`, body: flunder('other') }],
    ['a method that is not allowed', { method: 'POST', path: `${FLUNDERS}/one`, body: flunder('one') }],
  ])('%s', async (_name, request) => {
    expect(seen(await through.send(request))).toEqual(seen(await direct.send(request)));
  });

  test('writes arrive, and are answered with what is stored', async () => {
    const created = await through.create(FLUNDERS, flunder('written'));
    expect(await direct.get(`${FLUNDERS}/written`)).toEqual(created);
    const updated = await through.update(`${FLUNDERS}/written`, { ...created, spec: { fish: 'cod' } });
    expect(await direct.get(`${FLUNDERS}/written`)).toEqual(updated);
    const patches: [string, object][] = [
      ['application/merge-patch+json', { spec: { replicas: 3 } }],
      ['application/json-patch+json', [{ op: 'add', path: '/spec/replicas', value: 4 }]],
      ['application/apply-patch+yaml', { ...flunder('written', 'sole') }],
    ];
    for (const [type, body] of patches) {
      const path = `${FLUNDERS}/written?fieldManager=me&force=true`;
      const sent = {
        method: 'PATCH',
        path: type.includes('apply') ? path : `${FLUNDERS}/written`,
        headers: { 'content-type': type },
        body: JSON.stringify(body),
      };
      expect((await through.expect(200, sent)).json()).toEqual(await direct.get(`${FLUNDERS}/written`));
    }
    const stale = await through.send({ method: 'PUT', path: `${FLUNDERS}/written`, body: { ...created, spec: { fish: 'x' } } });
    expect([stale.status, stale.json<{ reason: string }>().reason]).toEqual([409, 'Conflict']);
    await through.delete(`${FLUNDERS}/written`);
    expect((await direct.send({ path: `${FLUNDERS}/written` })).status).toBe(404);
  });

  test('a collection is deleted', async () => {
    await through.create(FLUNDERS, { ...flunder('gone'), metadata: { name: 'gone', labels: { tmp: 'yes' } } });
    await through.delete(`${FLUNDERS}?labelSelector=tmp%3Dyes`);
    expect((await direct.send({ path: `${FLUNDERS}/gone` })).status).toBe(404);
  });

  test('a watch gets every event at once, and ends when the client goes', async () => {
    const { metadata } = await direct.get<TestList>(FLUNDERS);
    const watches = await Promise.all([through, direct].map((client) => client.watch(`${FLUNDERS}?watch=true&resourceVersion=${metadata.resourceVersion}`)));
    await through.create(FLUNDERS, flunder('watched'));
    await through.delete(`${FLUNDERS}/watched`);
    const [one, other] = await Promise.all(watches.map((watch) => watch.take(2)));
    expect(one).toEqual(other);
    expect(one!.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
    watches.forEach((watch) => watch.stop());
  });

  test('a large object passes both ways', async () => {
    const big = { ...flunder('big'), metadata: { name: 'big', annotations: { a: 'x'.repeat(200_000) } } };
    const created = await through.create(FLUNDERS, big);
    expect(created.metadata.annotations!['a']!.length).toBe(200_000);
    expect(await through.get(`${FLUNDERS}/big`)).toEqual(await direct.get(`${FLUNDERS}/big`));
    await through.delete(`${FLUNDERS}/big`);
  });
});

describe('who asks', () => {
  test('is authorized by the front first, and by the server behind it with the same name', async () => {
    const mallory = front.client('mallory');
    const denied = await mallory.send({ path: FLUNDERS });
    expect([denied.status, denied.json<{ message: string }>().message]).toEqual([
      403,
      `flunders.${GROUP} is forbidden: User "mallory" cannot list resource "flunders" in API group "${GROUP}" in the namespace "default"`,
    ]);
    const role = { metadata: { name: 'fish' }, rules: [{ apiGroups: [GROUP], resources: ['flunders'], verbs: ['list', 'create'] }] };
    await through.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', role);
    await through.create('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: { name: 'fish' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'fish' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
    });
    const alice = front.client('alice');
    expect((await alice.send({ path: FLUNDERS })).status).toBe(200);
    const made = await alice.expect(201, { method: 'POST', path: `${FLUNDERS}?fieldManager=a`, body: flunder('of-alice') });
    expect(made.status).toBe(201);
    // Directly, the token is the front's to know, and so are the rights of who has it.
    const { client } = delegatedServer(front, 'ext');
    expect((await client(back.port, 'alice-token').send({ path: FLUNDERS })).status).toBe(200);
    expect((await client(back.port, 'mallory-token').send({ path: FLUNDERS })).status).toBe(403);
    expect((await client(back.port, 'nobody').send({ path: FLUNDERS })).status).toBe(401);
  });

  test('cannot be claimed: headers of the client are not passed on', async () => {
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'x-remote-extra-scopes': 'all' };
    expect((await front.client('mallory').send({ path: FLUNDERS, headers })).status).toBe(403);
    const me = await front.client('alice').send({ path: FLUNDERS, headers });
    expect(me.status).toBe(200);
  });

  test('the server behind can verify the front by what the front publishes', async () => {
    const { data } = await through.get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
    expect(JSON.parse(data!['requestheader-username-headers']!)).toEqual(['X-Remote-User']);
    expect(JSON.parse(data!['requestheader-allowed-names']!)).toEqual(['front-proxy-client']);
    expect(data!['requestheader-client-ca-file']).toContain('BEGIN CERTIFICATE');
  });
});

describe('documents', () => {
  const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

  interface Discovery {
    items: { metadata: { name?: string }; versions: { version: string; freshness: string; resources?: { resource: string }[] }[] }[];
  }
  const discovered = async (): Promise<Discovery['items'][number] | undefined> =>
    (await through.expect(200, { path: '/apis', headers: { accept: AGGREGATED } })).json<Discovery>().items.find(({ metadata }) => metadata.name === GROUP);

  test('discovery lists the group in both forms', async () => {
    const { groups } = await through.get<{ groups: { name: string; preferredVersion: object }[] }>('/apis');
    expect(groups.find(({ name }) => name === GROUP)?.preferredVersion).toEqual({ groupVersion: `${GROUP}/v1`, version: 'v1' });
    expect(await through.get(`/apis/${GROUP}`)).toMatchObject({ kind: 'APIGroup', name: GROUP });
    await eventually(async () =>
      expect(await discovered()).toMatchObject({ versions: [{ version: 'v1', freshness: 'Current', resources: [{ resource: 'flunders' }] }] }),
    );
    const own = (await direct.expect(200, { path: '/apis', headers: { accept: AGGREGATED } }))
      .json<Discovery>()
      .items.find(({ metadata }) => metadata.name === GROUP);
    expect(await discovered()).toEqual(own);
  });

  test('OpenAPI v3: the index has its documents, which are the ones of the server', async () => {
    const index = async (client: ApiClient): Promise<Record<string, { serverRelativeURL: string }>> =>
      (await client.get<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3')).paths;
    const path = `apis/${GROUP}/v1`;
    await eventually(async () => expect((await index(through))[path]).toEqual((await index(direct))[path]));
    const url = (await index(through))[path]!.serverRelativeURL;
    const answers = await Promise.all([through, direct].map((client) => client.expect(200, { path: url })));
    expect(seen(answers[0]!)).toEqual(seen(answers[1]!));
    expect(answers[0]!.headers['etag']).toBe(answers[1]!.headers['etag']);
    const again = await through.send({ path: url, headers: { 'if-none-match': answers[0]!.headers['etag']! } });
    expect(again.status).toBe(304);
  });

  test('OpenAPI v2 is merged', async () => {
    await eventually(async () => {
      const { paths, definitions } = await through.get<{ paths: object; definitions: Record<string, unknown> }>('/openapi/v2');
      expect(Object.keys(paths)).toContain(`/apis/${GROUP}/v1/namespaces/{namespace}/flunders`);
      expect(Object.keys(paths)).toContain('/api/v1/namespaces/{namespace}/pods');
      expect(definitions['com.example.wardle.v1.Flunder']).toMatchObject({ description: 'A flunder is a fish.' });
      expect(Object.keys(definitions).filter((name) => name.endsWith('_v2'))).toEqual([]);
    });
  });

  test('kubectl knows the kind', async () => {
    expect(await kubectl.kubectl(`api-resources --api-group=${GROUP} --no-headers`)).toMatch(/^flunders\s+fl\s+wardle\.example\.com\/v1\s+true\s+Flunder/);
    expect(await kubectl.kubectl('explain flunders.spec.fish')).toContain('Which one.');
    expect(await kubectl.kubectl('get fl one')).toMatch(/NAME\s+FISH\s+one\s+herring/);
    await kubectl.kubectl('apply -f -', JSON.stringify(flunder('applied')));
    await kubectl.kubectl('scale flunder applied --replicas=5');
    expect(await kubectl.kubectl('get flunder applied -o jsonpath={.spec.replicas}')).toBe('5');
    await kubectl.kubectl('delete flunder applied');
  });

  test('a server that is away is marked stale, and does not keep others from being discovered', async () => {
    const port = back.port;
    await back.kill();
    // A request that finds nobody has the front look at once.
    const unavailable = await eventually(async () => {
      const answer = await through.send({ path: FLUNDERS });
      expect([answer.status, answer.text]).toEqual([503, 'service unavailable\n']);
      return answer;
    });
    expect(unavailable.headers['content-type']).toBe('text/plain; charset=utf-8');
    const { message } = await waitForAvailability(front, NAME, 'FailedDiscoveryCheck');
    const url = `https://localhost:${port}/apis/${GROUP}/v1`;
    expect(message).toMatch(new RegExp(`^failing or missing response from ${url}: Get "${url}": dial tcp .*: connect: connection refused$`));
    await eventually(async () => expect(await discovered()).toMatchObject({ versions: [{ version: 'v1', freshness: 'Stale' }] }));
    expect((await through.send({ path: '/api/v1/namespaces' })).status).toBe(200);
    expect((await kubectl.tryKubectl('get namespaces')).exit).toBe(0);

    back = await startBack(port);
    const startedMs = performance.now();
    await eventually(async () => expect((await through.send({ path: `${FLUNDERS}/one` })).status).toBe(200));
    expect(performance.now() - startedMs).toBeLessThan(HEAL_MS);
    await eventually(async () => expect(await discovered()).toMatchObject({ versions: [{ freshness: 'Current' }] }));
  });
});

test('connections that were cut leave nothing behind', async () => {
  const openFiles = (): number => readdirSync(`/proc/${front.child.pid}/fd`).length;
  await through.get(FLUNDERS);
  const before = openFiles();
  for (let round = 0; round < 20; round++) {
    const clients = Array.from({ length: 50 }, () => front.client());
    await Promise.all(
      clients.map(async (client, index) => {
        if (index % 2 === 0) {
          const watch = await client.watch(`${FLUNDERS}?watch=true`);
          await watch.next();
          watch.stop();
        } else {
          const pending = client.open({ path: FLUNDERS }).then(
            (response) => response.destroy(),
            () => undefined,
          );
          client.close();
          await pending;
        }
        client.close();
      }),
    );
  }
  await eventually(() => expect(openFiles()).toBeLessThanOrEqual(before + 3));
  const list = await direct.get<{ items: TestObject[] }>(FLUNDERS);
  expect(list.items.length).toBeGreaterThan(0);
}, 120_000);
