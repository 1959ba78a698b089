import { describe, expect, test } from 'vitest';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import { type TestEnvironment, admit, testEnvironment, writeOf } from '../testing/attributes.ts';
import { serviceAccount } from './service-account.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const pod = (spec: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'x', namespace: 'n', ...metadata },
  spec: { containers: [{ name: 'c', resources: {} }], ...spec },
});
const mirror = (spec: object = {}): object => pod({ ...spec }, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
const env = (name: string): object => ({ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name } } }] });

async function environment(...accounts: object[]): Promise<TestEnvironment> {
  const made = testEnvironment();
  for (const account of accounts) {
    const { metadata = {}, ...rest } = account as { metadata?: object };
    await made.client
      .resource('', 'serviceaccounts')
      .create('n', { kind: 'ServiceAccount', apiVersion: 'v1', ...rest, metadata: { name: 'default', ...metadata } });
  }
  return made;
}

describe('the token', () => {
  test('is mounted in every container, from a volume with a name of its own', async () => {
    const plugin = serviceAccount(await environment({}));
    const { spec } = await admit<Pod>(plugin, writeOf('pods', pod({ initContainers: [{ name: 'i', resources: {} }], volumes: [{ name: 'v' }] })));
    expect(spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    const { name } = spec.volumes![1]!;
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    for (const container of [...spec.containers!, ...spec.initContainers!])
      expect(container.volumeMounts).toEqual([{ name, readOnly: true, mountPath: MOUNT_PATH }]);
    expect(spec.imagePullSecrets).toBeUndefined();
  });

  test.each([
    ['the pod does not want it', {}, { automountServiceAccountToken: false }],
    ['the account does not want it', { automountServiceAccountToken: false }, {}],
    ['something is mounted in its place', {}, { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: MOUNT_PATH }] }] }],
  ])('is left out where %s', async (_case, account, spec) => {
    const admitted = await admit<Pod>(serviceAccount(await environment(account)), writeOf('pods', pod(spec)));
    expect(admitted.spec.volumes).toBeUndefined();
  });

  test('comes from a volume that is there already', async () => {
    const { spec } = await admit<Pod>(serviceAccount(await environment({})), writeOf('pods', pod({ volumes: [{ name: 'kube-api-access-mine' }] })));
    expect(spec.volumes).toHaveLength(1);
    expect(spec.containers![0]!.volumeMounts![0]!.name).toBe('kube-api-access-mine');
  });
});

test('pull secrets are the account’s where the pod has none', async () => {
  const plugin = serviceAccount(await environment({ imagePullSecrets: [{ name: 'a' }] }));
  expect((await admit<Pod>(plugin, writeOf('pods', pod()))).spec.imagePullSecrets).toEqual([{ name: 'a' }]);
  expect((await admit<Pod>(plugin, writeOf('pods', pod({ imagePullSecrets: [{ name: 'own' }] })))).spec.imagePullSecrets).toEqual([{ name: 'own' }]);
});

describe('an account that is missing', () => {
  test('is refused at once', async () => {
    const plugin = serviceAccount(await environment({}));
    await expect(admit(plugin, writeOf('pods', pod({ serviceAccountName: 'none' })))).rejects.toThrow(
      'pods "x" is forbidden: error looking up service account n/none: serviceaccount "none" not found',
    );
  });

  test('is waited for a moment where it is the default one', async () => {
    const made = await environment();
    const admitted = admit<Pod>(serviceAccount(made, 60_000), writeOf('pods', pod()));
    await made.client.resource('', 'serviceaccounts').create('n', { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } });
    expect((await admitted).spec.volumes).toHaveLength(1);
    await expect(admit(serviceAccount(await environment(), 1), writeOf('pods', pod()))).rejects.toThrow('serviceaccount "default" not found');
  });

  test('is named with the beginning of a name that is yet to be generated', async () => {
    const write = writeOf('pods', { metadata: { generateName: 'gen-' }, spec: { containers: [], serviceAccountName: 'none' } });
    await expect(admit(serviceAccount(await environment()), write)).rejects.toThrow('pods "gen-" is forbidden: ');
  });
});

describe('mirror pods', () => {
  test('are left as they are', async () => {
    const write = writeOf('pods', mirror());
    expect(await admit(serviceAccount(await environment()), write)).toEqual(writeOf('pods', mirror()).object);
  });

  test.each([
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
    [{ containers: [{ name: 'c', env: [{ name: 'e', valueFrom: { secretKeyRef: { name: 's' } } }] }] }, 'a mirror pod may not reference secrets'],
    [{ volumes: [{ name: 'v', iscsi: { secretRef: { name: 's' } } }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('%j is refused', async (spec, message) => {
    await expect(admit(serviceAccount(await environment()), writeOf('pods', mirror(spec)))).rejects.toThrow(message);
  });
});

describe('an account that limits secrets', () => {
  const account = {
    metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
    secrets: [{ name: 'ok' }],
    imagePullSecrets: [{ name: 'pull' }],
  };

  test.each([
    [
      { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
      'volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      { containers: [env('s')] },
      'container c with envVar E referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 's' } }] }] },
      'init container i with envFrom referencing secret.secretName="s" is not allowed',
    ],
    [
      { imagePullSecrets: [{ name: 's' }] },
      'imagePullSecrets[0].name="s" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])('refuses %j', async (spec, message) => {
    await expect(admit(serviceAccount(await environment(account)), writeOf('pods', pod(spec)))).rejects.toThrow(message);
  });

  test('lets those that it names, and looks at ephemeral containers when they come', async () => {
    const plugin = serviceAccount(await environment(account));
    const allowed = { containers: [env('ok')], imagePullSecrets: [{ name: 'pull' }] };
    await admit(plugin, writeOf('pods', pod(allowed)));
    const ephemeral = pod({ ...allowed, serviceAccountName: 'default', ephemeralContainers: [env('s')] });
    await expect(admit(plugin, writeOf('pods/ephemeralcontainers', ephemeral, { operation: 'UPDATE' }))).rejects.toThrow(
      'ephemeral container c with envVar E referencing',
    );
    await admit(plugin, writeOf('pods', ephemeral, { operation: 'UPDATE' }));
  });
});
