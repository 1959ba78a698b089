import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuthorizationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartedServer } from '../../src/index.ts';
import { startServer } from '../support/library.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-testing-'));
afterAll(() => rmSync(folder, { recursive: true }));

const definition = (plural: string, kind: string, versions = ['v1']) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: versions.map((name, index) => ({
      name,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

const clientOf = (kubeconfig: string): KubeConfig => {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return config;
};

describe('definitions and objects to begin with', () => {
  test('come from folders, files, globs and objects, and are there when the server is', async () => {
    const crds = join(folder, 'crd');
    const deep = join(folder, 'deep', 'a', 'b');
    mkdirSync(crds);
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(crds, 'apples.yaml'), `# a comment\n---\n${JSON.stringify(definition('apples', 'Apple'))}\n---\n`);
    writeFileSync(join(crds, 'kustomization.yaml'), 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [apples.yaml]\n');
    writeFileSync(join(deep, 'pears.json'), JSON.stringify(definition('pears', 'Pear')));
    const manifest = join(folder, 'objects.yaml');
    writeFileSync(
      manifest,
      'kind: Apple\napiVersion: example.com/v1\nmetadata: {name: one, namespace: orchard}\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: orchard}\n',
    );
    await using server = await startServer({
      crds: [crds, join(folder, 'deep/**/*.{yaml,json}'), definition('plums', 'Plum', ['v1', 'v2'])],
      objects: [manifest, { apiVersion: 'example.com/v2', kind: 'Plum', metadata: { name: 'two' } }],
    });
    expect(await server.list({ apiVersion: 'example.com/v1', kind: 'Apple' })).toMatchObject([
      { kind: 'Apple', metadata: { name: 'one', namespace: 'orchard' } },
    ]);
    expect(await server.list({ apiVersion: 'example.com/v1', kind: 'Pear' })).toEqual([]);
    expect(await server.get({ apiVersion: 'example.com/v1', kind: 'Plum', name: 'two' })).toMatchObject({ metadata: { namespace: 'default' } });
  });

  test.each([
    [{ crds: '/no/such/folder' }, /^there is no file or folder \/no\/such\/folder$/],
    [{ crds: join(folder, '*.nothing') }, /^no file matches .*\*\.nothing$/],
    [{ crds: { apiVersion: 'v1', kind: 'ConfigMap' } }, /^there is no CustomResourceDefinition in what `crds` names$/],
    [{ objects: { apiVersion: 'v1', kind: 'Nonsense', metadata: { name: 'x' } } }, /^the server has no kind "Nonsense" in v1$/],
    [{ objects: { metadata: { name: 'x' } } }, /^this is no object of Kubernetes/],
  ])('%j is refused, and the server stops', async (options, message) => {
    await expect(startServer(options)).rejects.toThrow(message);
  });
});

describe('a server', () => {
  let server: StartedServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test('gives users certificates, and lets them do what is bound to them', async () => {
    await server.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'reader' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'devs' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
      },
    ]);
    const jane = server.user({ name: 'jane: "the dev"', groups: ['devs'] });
    expect(readFileSync(jane.kubeconfigFile, 'utf8')).toBe(jane.kubeconfig);
    expect(jane.certificate).toContain('BEGIN CERTIFICATE');
    const client = clientOf(jane.kubeconfig).makeApiClient(CoreV1Api);
    await client.listNamespacedConfigMap({ namespace: 'default' });
    await expect(client.listNamespacedSecret({ namespace: 'default' })).rejects.toThrow(/secrets is forbidden: User .*jane: .*the dev/);
  });

  test('gives service accounts tokens', async () => {
    const account = await server.serviceAccount({ name: 'robot', clusterRole: 'view' });
    expect(account.name).toBe('system:serviceaccount:default:robot');
    const config = clientOf(account.kubeconfig);
    await config.makeApiClient(CoreV1Api).listConfigMapForAllNamespaces();
    const review = await config.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({
      body: { spec: { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'default' } } },
    });
    expect(review.status?.allowed).toBe(false);
    // A second token for the same account.
    expect((await server.serviceAccount({ name: 'robot', clusterRole: 'view' })).token).not.toBe('');
  });

  test('creates, gets, lists and deletes, with the types of built-in kinds', async () => {
    const created = await server.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', labels: { app: 'a' } }, data: { color: 'blue' } });
    const color: string | undefined = created.data?.['color'];
    expect(color).toBe('blue');
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' } as const;
    expect((await server.get(reference)).metadata.uid).toBe(created.metadata.uid);
    expect((await server.list({ apiVersion: 'v1', kind: 'ConfigMap', labelSelector: 'app=a' })).map(({ metadata }) => metadata.name)).toEqual(['settings']);
    await expect(server.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } })).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
    });
    await server.delete(reference);
    await expect(server.get(reference)).rejects.toThrow('configmaps "settings" not found');
  });

  test('waits for fields, for what a function says, and for the end of an object', async () => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'late' } as const;
    const byFields = server.waitFor(reference, { data: { step: '2' } });
    const byAssertion = server.waitFor(reference, (found) => {
      expect(found?.data).toHaveProperty('step', '2');
    });
    await server.create({ ...reference, metadata: { name: 'late' }, data: { step: '1' } });
    await server.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { step: '2' } });
    expect((await byFields).data).toEqual({ step: '2' });
    expect((await byAssertion)?.metadata.name).toBe('late');
    const gone = server.waitFor(reference, (found) => found === undefined);
    await server.delete(reference);
    expect(await gone).toBeUndefined();
  });

  test('says what it has waited for in vain', async () => {
    const reference = { apiVersion: 'v1', kind: 'Namespace', name: 'default' } as const;
    await expect(server.waitFor(reference, { status: { phase: 'Terminating' } }, { timeout: 100 })).rejects.toThrow(
      /^waited 100 ms for v1 Namespace default, in vain:\n {2}status\.phase: expected "Terminating", found "Active"\nlast state: \n\{[^]*"phase": "Active"/,
    );
    await expect(server.waitFor({ ...reference, name: 'none' }, (found) => found !== undefined, { timeout: 100 })).rejects.toThrow(
      /the condition returned false\nlast state: there is no such object$/,
    );
  });

  test('is asked by nobody once it has stopped, and leaves no files', async () => {
    let file: string;
    {
      await using other = await startServer();
      file = other.user({ name: 'jane' }).kubeconfigFile;
      await other.list({ apiVersion: 'v1', kind: 'Namespace' });
      expect(existsSync(file)).toBe(true);
    }
    expect(existsSync(file)).toBe(false);
  });
});

describe('webhooks', () => {
  test('refuse, change and warn, from the next request on', async () => {
    await using server = await startServer();
    const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } }) as const;
    const validating = await server.webhook(({ name, userInfo }) => (name === 'bad' ? `${userInfo.username} may not` : true), { resources: ['configmaps'] });
    await expect(server.create(configMap('bad'))).rejects.toThrow(/denied the request: admin may not$/);
    await server.create(configMap('good'));
    await validating.stop();
    await server.create(configMap('bad'));
    await server.webhook(({ object }) => ({ object: { ...object, data: { a: '2', b: '3' } } }), { type: 'mutating', resources: ['configmaps'] });
    expect((await server.create(configMap('changed'))).data).toEqual({ a: '2', b: '3' });
  });

  test('convert', async () => {
    await using server = await startServer({ crds: definition('plums', 'Plum', ['v1', 'v2']) });
    await server.webhook((object, apiVersion) => ({ ...object, apiVersion, via: apiVersion }), { type: 'conversion', crd: 'plums.example.com' });
    await server.create({ apiVersion: 'example.com/v1', kind: 'Plum', metadata: { name: 'one' } });
    expect(await server.get({ apiVersion: 'example.com/v2', kind: 'Plum', name: 'one' })).toMatchObject({
      apiVersion: 'example.com/v2',
      via: 'example.com/v2',
    });
  });
});
