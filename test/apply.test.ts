import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient, Answer } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* Server-side apply and field ownership (KEP-555), over HTTP and with kubectl v1.36. One server; every test has a namespace of its own. */

let server: ServerProcess;
let admin: Clients;
let api: ApiClient;
let count = 0;

beforeAll(async () => {
  server = await startServer();
  admin = new Clients(server);
  api = server.client();
});

async function newNamespace(): Promise<string> {
  const name = `apply-${++count}`;
  await api.create('/api/v1/namespaces', { metadata: { name } });
  return name;
}

interface Entry {
  manager: string;
  operation: string;
  apiVersion: string;
  time?: string;
  subresource?: string;
  fieldsV1: object;
}
interface Owned {
  metadata: { resourceVersion: string; managedFields?: Entry[]; annotations?: Record<string, string>; labels?: Record<string, string> };
  data?: Record<string, string>;
  spec: Record<string, unknown>;
  message?: string;
  reason?: string;
  details?: { causes: object[] };
}

const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const MERGE = { 'content-type': 'application/merge-patch+json' };

const apply = (path: string, body: object | string, query = 'fieldManager=me'): Promise<Answer> =>
  api.send({ method: 'PATCH', path: `${path}?${query}`, headers: APPLY, body });
const merge = (path: string, body: object, query = 'fieldManager=hand'): Promise<Answer> =>
  api.send({ method: 'PATCH', path: `${path}?${query}`, headers: MERGE, body });
const entriesOf = (answer: Answer): Entry[] => answer.json<Owned>().metadata.managedFields ?? [];
/** `me Apply {"f:data":…}`: all but times and versions. */
const ownersOf = (answer: Answer): string[] =>
  entriesOf(answer).map(({ manager, operation, subresource, fieldsV1 }) =>
    [manager, operation, ...(subresource ? [subresource] : []), JSON.stringify(fieldsV1)].join(' '),
  );

const configMap = (data: Record<string, string | null>, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', ...metadata },
  data,
});
const configMapPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps/c`;

describe('apply', () => {
  test('creates, then leaves alone what is already so', async () => {
    const path = configMapPath(await newNamespace());
    const created = await apply(path, configMap({ a: '1' }));
    expect([created.status, ownersOf(created)]).toEqual([201, ['me Apply {"f:data":{"f:a":{}}}']]);
    const again = await apply(path, configMap({ a: '1' }));
    expect([again.status, again.text]).toEqual([200, created.text]);
  });

  test('takes YAML, with comments and anchors', async () => {
    const path = configMapPath(await newNamespace());
    const answer = await apply(path, '# mine\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: &x "1"\n  b: *x\n');
    expect(answer.json<Owned>().data).toEqual({ a: '1', b: '1' });
  });

  test('names every owner of what it would change, and takes it by force', async () => {
    const path = configMapPath(await newNamespace());
    await apply(path, configMap({ a: '1', b: '1' }), 'fieldManager=one');
    await merge(path, { data: { b: '2' } });
    const refused = await apply(path, configMap({ a: '5', b: '5' }), 'fieldManager=two');
    expect(refused.json()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
      message: 'Apply failed with 2 conflicts: conflicts with "hand" using v1:\n- .data.b\nconflicts with "one":\n- .data.a',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "hand" using v1', field: '.data.b' },
          { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
        ],
      },
    });
    expect(ownersOf(await apply(path, configMap({ a: '5', b: '5' }), 'fieldManager=two&force=true'))).toEqual(['two Apply {"f:data":{"f:a":{},"f:b":{}}}']);
  });

  test('removes what its manager stops applying, but not what others share', async () => {
    const path = configMapPath(await newNamespace());
    await apply(path, configMap({ a: '1', b: '1', c: '1' }), 'fieldManager=one');
    await apply(path, configMap({ b: '1' }), 'fieldManager=two');
    const answer = await apply(path, configMap({ a: '1' }), 'fieldManager=one');
    expect(answer.json<Owned>().data).toEqual({ a: '1', b: '1' });
  });

  test('a dry run shows what would be, and keeps nothing', async () => {
    const path = configMapPath(await newNamespace());
    expect((await apply(path, configMap({ a: '1' }), 'fieldManager=me&dryRun=All')).status).toBe(201);
    expect((await api.send({ path })).status).toBe(404);
  });

  test('a resourceVersion in what is applied must be the current one', async () => {
    const path = configMapPath(await newNamespace());
    const { metadata } = (await apply(path, configMap({ a: '1' }))).json<Owned>();
    await merge(path, { data: { x: '1' } });
    const refused = await apply(path, configMap({ a: '2' }, { resourceVersion: metadata.resourceVersion }));
    expect([refused.status, refused.json<Owned>().message]).toEqual([
      409,
      'Operation cannot be fulfilled on configmaps "c": the object has been modified; please apply your changes to the latest version and try again',
    ]);
  });

  test('what is stored is read before what is applied is looked at', async () => {
    const path = `/api/v1/namespaces/${await newNamespace()}/serviceaccounts/s`;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } };
    await apply(path, account, 'fieldManager=one');
    const { metadata } = (await api.send({ path })).json<Owned>();
    // Nobody can own a secret without a name, and so nobody owns anything of this account.
    await api.send({ method: 'PUT', path, body: { ...account, metadata, secrets: [{ apiVersion: 'v1' }] } });
    const refused = await apply(path, { ...account, metadata: { name: 's', managedFields: [] } }, 'fieldManager=two');
    expect([refused.status, refused.json<Owned>().message]).toEqual([500, expect.stringContaining('failed to create manager for existing fields: ')]);
  });

  test.each<[string, object | string, string, number, string]>([
    ['no manager', configMap({}), 'fieldManager=', 422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
    ['managedFields', configMap({}, { managedFields: [] }), 'fieldManager=me', 400, 'metadata.managedFields must be nil'],
    ['another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } }, 'fieldManager=me', 400, 'invalid object type: /v1, Kind=Secret'],
    ['nothing', '', 'fieldManager=me', 400, 'invalid object type: /, Kind='],
    [
      'a list',
      '- a',
      'fieldManager=me',
      400,
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ],
    [
      'no YAML',
      'a: b: c',
      'fieldManager=me',
      400,
      'error decoding YAML: error converting YAML to JSON: yaml: line 1: mapping values are not allowed in this context',
    ],
    [
      'an unknown field',
      { ...configMap({}), foo: 1 },
      'fieldManager=me',
      500,
      'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .foo: field not declared in schema',
    ],
    [
      'another type',
      { ...configMap({}), data: { a: 1 } },
      'fieldManager=me',
      500,
      'failed to create typed patch object (/c; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
    ['another name', configMap({}, { name: 'd' }), 'fieldManager=me', 400, 'the name of the object (d) does not match the name on the URL (c)'],
    [
      'a uid',
      configMap({}, { uid: 'u' }),
      'fieldManager=me',
      409,
      'Operation cannot be fulfilled on configmaps "c": uid mismatch: the provided object specified uid u, and no existing object was found',
    ],
    [
      'a key twice',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: "1"\n  a: "2"\n',
      'fieldManager=me&fieldValidation=Strict',
      400,
      'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "a" already set in map',
    ],
  ])('%s is refused', async (_name, body, query, status, message) => {
    const answer = await apply(configMapPath(await newNamespace()), body, query);
    expect([answer.status, answer.json<Owned>().message]).toEqual([status, message]);
  });

  test('keys that come twice are warned of one by one', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: "1"\n  b: "1"\n  a: "2"\n  b: "2"\n';
    const answer = await apply(configMapPath(await newNamespace()), body);
    expect(answer.headers['warning']).toBe('299 - "line 7: key \\"a\\" already set in map", 299 - "line 8: key \\"b\\" already set in map"');
  });

  test('CBOR is no type that is known while its gate is off', async () => {
    const answer = await api.send({
      method: 'PATCH',
      path: `${configMapPath(await newNamespace())}?fieldManager=me`,
      headers: { 'content-type': 'application/apply-patch+cbor' },
      body: Buffer.from([0xa0]),
    });
    expect(answer.status).toBe(415);
  });
});

const deployment = (spec: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image: 'nginx' }] } },
    ...spec,
  },
});

const withContainers = (...containers: object[]): object => deployment({ template: { metadata: { labels: { app: 'web' } }, spec: { containers } } });

describe('lists', () => {
  test('appliers share a list by the keys of its items; keys have defaults', async () => {
    const path = `/apis/apps/v1/namespaces/${await newNamespace()}/deployments/web`;
    await apply(path, withContainers({ name: 'app', image: 'nginx', ports: [{ containerPort: 80 }] }), 'fieldManager=one');
    const answer = await apply(
      path,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'side', image: 'envoy' }] } } },
      },
      'fieldManager=two',
    );
    const [one, two] = entriesOf(answer);
    expect(JSON.stringify(one!.fieldsV1)).toContain(
      '"f:containers":{"k:{\\"name\\":\\"app\\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{}}}}}',
    );
    expect(two!.fieldsV1).toEqual({
      'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"side"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } } },
    });
  });

  test('an item may stand once', async () => {
    const path = `/apis/apps/v1/namespaces/${await newNamespace()}/deployments/web`;
    const answer = await apply(path, withContainers({ name: 'app', image: 'a' }, { name: 'app', image: 'b' }));
    expect([answer.status, answer.json<Owned>().message]).toEqual([
      500,
      'failed to create typed patch object (/web; apps/v1, Kind=Deployment): .spec.template.spec.containers: duplicate entries for key [name="app"]',
    ]);
  });
});

describe('every other write', () => {
  test('names its manager by the option, or by the user agent', async () => {
    const namespace = await newNamespace();
    const post = {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      body: configMap({ a: '1' }),
      headers: { 'user-agent': 'robot/1.0 (x)' },
    };
    expect(ownersOf(await api.send(post))).toEqual(['robot Update {"f:data":{".":{},"f:a":{}}}']);
    expect(ownersOf(await merge(configMapPath(namespace), { data: { b: '1' } }, 'fieldManager=me'))).toEqual(
      ['me Update {"f:data":{"f:b":{}}}', 'robot Update {"f:data":{".":{},"f:a":{}}}'].toSorted(),
    );
  });

  test('that changes nothing leaves times and version alone', async () => {
    const namespace = await newNamespace();
    const path = configMapPath(namespace);
    await apply(path, configMap({ a: '1' }));
    const before = await api.send({ path });
    expect((await merge(path, { data: { a: '1' } })).text).toBe(before.text);
    expect((await api.send({ method: 'PUT', path: `${path}?fieldManager=other`, body: before.json<object>() })).text).toBe(before.text);
  });

  test('status belongs to who writes it through its subresource', async () => {
    const path = `/apis/apps/v1/namespaces/${await newNamespace()}/deployments/web`;
    await apply(path, { ...deployment(), status: { replicas: 5 } });
    const answer = await merge(`${path}/status`, { status: { replicas: 1 }, spec: { replicas: 9 } }, 'fieldManager=controller');
    expect(ownersOf(answer).slice(1)).toEqual(['controller Update status {"f:status":{"f:replicas":{}}}']);
    expect(JSON.stringify(entriesOf(answer)[0])).not.toContain('f:status');
  });

  test('through a scale one comes to own the replicas', async () => {
    const path = `/apis/apps/v1/namespaces/${await newNamespace()}/deployments/web`;
    await apply(path, deployment({ replicas: 2 }));
    await merge(`${path}/scale`, { spec: { replicas: 5 } }, 'fieldManager=scaler');
    const live = await api.send({ path });
    expect(entriesOf(live)[1]).toEqual({
      manager: 'scaler',
      operation: 'Update',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    });
    expect(JSON.stringify(entriesOf(live)[0])).not.toContain('f:replicas');
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 7 } };
    expect((await apply(`${path}/scale`, scale)).json<Owned>().message).toBe(
      'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using autoscaling/v1: .spec.replicas',
    );
    expect((await apply(`${path}/scale`, scale, 'fieldManager=me&force=true')).json<Owned>().spec).toEqual({ replicas: 7 });
    expect(ownersOf(await api.send({ path }))).toContain('me Apply scale {"f:spec":{"f:replicas":{}}}');
  });

  test('an empty list forgets all owners; the first apply then finds what was there before it', async () => {
    const namespace = await newNamespace();
    const path = configMapPath(namespace);
    await apply(path, configMap({ a: '1', b: '1' }));
    expect(entriesOf(await merge(path, { metadata: { managedFields: [] } }))).toEqual([]);
    expect(entriesOf(await merge(path, { data: { c: '1' } }))).toEqual([]);
    expect(ownersOf(await apply(path, configMap({ a: '1' })))).toEqual([
      'me Apply {"f:data":{"f:a":{}}}',
      'before-first-apply Update {"f:data":{".":{},"f:a":{},"f:b":{},"f:c":{}}}',
    ]);
  });

  test('owners may be edited; what cannot be read is as if it were not sent', async () => {
    const path = configMapPath(await newNamespace());
    await apply(path, configMap({ a: '1' }));
    const entry = { manager: 'given', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:a': {} } } };
    expect(ownersOf(await merge(path, { metadata: { managedFields: [entry] } }))).toEqual(['given Apply {"f:data":{"f:a":{}}}']);
    expect(ownersOf(await merge(path, { metadata: { managedFields: [{ ...entry, fieldsV1: { nonsense: {} } }] } }))).toEqual([
      'given Apply {"f:data":{"f:a":{}}}',
    ]);
    expect(ownersOf(await merge(path, { metadata: { managedFields: [{ ...entry, manager: 'x', fieldsType: '' }] } }))).toEqual([
      'given Apply {"f:data":{"f:a":{}}}',
    ]);
  });

  test('in another version, what was owned there is told in that version', async () => {
    const namespace = await newNamespace();
    const path = (version: string): string => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers/h`;
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    await apply(
      path('v1'),
      {
        apiVersion: 'autoscaling/v1',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec: { maxReplicas: 5, scaleTargetRef: target, targetCPUUtilizationPercentage: 50 },
      },
      'fieldManager=one',
    );
    const changed = await merge(path('v2'), { spec: { maxReplicas: 9 } }, 'fieldManager=two');
    expect(entriesOf(changed).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ['one', 'autoscaling/v1'],
      ['two', 'autoscaling/v2'],
    ]);
    expect(ownersOf(changed)[1]).toBe('two Update {"f:spec":{"f:maxReplicas":{}}}');
    expect(JSON.stringify(entriesOf(changed)[0])).toContain('f:targetCPUUtilizationPercentage');
    expect(JSON.stringify(entriesOf(changed)[0])).not.toContain('f:maxReplicas');
  });

  test('more than ten updaters become fewer', async () => {
    const path = configMapPath(await newNamespace());
    await apply(path, configMap({ a: '1' }));
    for (let i = 0; i < 12; i++) await merge(path, { data: { [`k${i}`]: '1' } }, `fieldManager=m${String(i).padStart(2, '0')}`);
    const entries = entriesOf(await api.send({ path }));
    expect(entries.filter(({ operation }) => operation === 'Update')).toHaveLength(10);
    expect(entries.some(({ manager }) => manager === 'ancient-changes')).toBe(true);
  });

  test('a deletion that waits owns nothing', async () => {
    const path = configMapPath(await newNamespace());
    const before = await apply(path, configMap({ a: '1' }, { finalizers: ['example.com/wait'] }));
    await api.send({ method: 'DELETE', path });
    expect(ownersOf(await api.send({ path }))).toEqual(ownersOf(before));
    await merge(path, { metadata: { finalizers: null } });
  });
});

const manifest = (image: string): string => JSON.stringify(withContainers({ name: 'app', image }));

describe('kubectl', () => {
  test('applies on the server, tells conflicts, and takes fields by force', async () => {
    const ns = `-n ${await newNamespace()}`;
    expect(await admin.kubectl(`apply ${ns} --server-side -f -`, manifest('nginx:1'))).toBe('deployment.apps/web serverside-applied\n');
    const refused = await admin.tryKubectl(`apply ${ns} --server-side --field-manager=other -f -`, manifest('nginx:2'));
    expect(refused.stderr).toContain(
      'error: Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="app"].image\nPlease review the fields above',
    );
    expect(await admin.kubectl(`apply ${ns} --server-side --field-manager=other --force-conflicts -f -`, manifest('nginx:2'))).toBe(
      'deployment.apps/web serverside-applied\n',
    );
    const shown = await admin.kubectl(`get deploy web ${ns} -o yaml --show-managed-fields`);
    expect(shown).toContain('    manager: other\n    operation: Apply\n');
    expect(await admin.kubectl(`get deploy web ${ns} -o yaml`)).not.toContain('managedFields');
  });

  test('takes over from client-side apply, and keeps its annotation true', async () => {
    const ns = `-n ${await newNamespace()}`;
    await admin.kubectl(`apply ${ns} -f -`, manifest('nginx:1'));
    expect(await admin.kubectl(`apply ${ns} --server-side -f -`, manifest('nginx:2'))).toBe('deployment.apps/web serverside-applied\n');
    expect(await admin.kubectl(`get deploy web ${ns} -o 'jsonpath={.metadata.annotations}'`)).toContain('nginx:2');
  });

  test('shows what an apply would change', async () => {
    const ns = `-n ${await newNamespace()}`;
    await admin.kubectl(`apply ${ns} --server-side -f -`, manifest('nginx:1'));
    const diff = await admin.tryKubectl(`diff ${ns} --server-side -f -`, manifest('nginx:2'));
    expect([diff.exit, diff.stdout]).toEqual([1, expect.stringMatching(/-\s+- image: nginx:1\n\+\s+- image: nginx:2/)]);
    expect((await admin.tryKubectl(`diff ${ns} --server-side -f -`, manifest('nginx:1'))).exit).toBe(0);
  });
});
