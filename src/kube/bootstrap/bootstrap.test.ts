import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { keepClusterAuthentication } from './cluster-authentication.ts';
import { FACTS, TABLES, tableOf } from '../../../scripts/bootstrap/generate.ts';
import { type BindingObject, RBAC_GROUP, type RoleObject } from '../../authorization/rbac-objects.ts';
import { FakeClient } from '../../client/fake-client.ts';
import { createAuthority } from '../../serving/certificates/create.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { BootstrapControllerOptions } from './keeping.ts';
import { type BootstrapOptions, bootstrapHooks } from './hooks.ts';
import { ownMasterLease } from './master-leases.ts';
import { type PeerEndpoints, noPeerEndpoints } from './peer-endpoints.ts';

const authority = createAuthority({ commonName: 'ca' });
/** Of the gates that bootstrapping asks for. */
const ON_BY_DEFAULT = new Set([
  'APIServerIdentity',
  'ComponentFlagz',
  'ComponentStatusz',
  'DRADeviceTaints',
  'DRAExtendedResource',
  'DRAResourceClaimGranularStatusAuthorization',
  'DynamicResourceAllocation',
  'KubeletServiceAccountTokenForCredentialProviders',
  'UnknownVersionInteroperabilityProxy',
  'VolumeAttributesClass',
]);
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io';

function optionsOf(more: Partial<BootstrapOptions> = {}): BootstrapControllerOptions & BootstrapOptions & { stop(): void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    stop: () => controller.abort(),
    report: (error) => {
      throw error;
    },
    now: () => new Date('2026-11-15T08:33:39.123Z'),
    cidrs: ['10.0.0.0/16'],
    serviceIp: '10.0.0.1',
    securePort: 16443,
    nodePort: 0,
    advertiseAddress: () => undefined,
    peerAddress: () => undefined,
    instanceId: 'f81d4fae',
    isEnabled: (gate) => ON_BY_DEFAULT.has(gate),
    endpointReconciler: 'none',
    isRbacOn: true,
    isFairnessOn: true,
    isContinued: false,
    serverCount: 1,
    clientCa: () => authority.certPem,
    requestHeader: () => undefined,
    ...more,
  };
}

async function start(client: FakeClient, more: Partial<BootstrapOptions> = {}): Promise<BootstrapOptions> {
  const options = optionsOf(more);
  await Promise.all(
    bootstrapHooks(client, options, { masterLeases: ownMasterLease(), peerEndpoints: noPeerEndpoints }).postStart.map((hook) => hook.run(options.signal)),
  );
  await new Promise(setImmediate);
  options.stop();
  return options;
}

interface Loose extends ApiObject {
  spec: Record<string, unknown>;
  status: { conditions: Record<string, unknown>[] };
  data: Record<string, string>;
}
const get = (client: FakeClient, group: string, plural: string, name: string, namespace = ''): Loose | undefined =>
  client.resource<Loose>(group, plural).informer.get(namespace, name);

describe('a fresh store', () => {
  it('gets all that a server makes by itself', async () => {
    const client = new FakeClient();
    await start(client);
    const count = (group: string, plural: string): number => client.resource(group, plural).informer.list('').length;
    expect([
      count(RBAC_GROUP, 'clusterroles'),
      count(RBAC_GROUP, 'clusterrolebindings'),
      count(RBAC_GROUP, 'roles'),
      count(RBAC_GROUP, 'rolebindings'),
    ]).toEqual([69, 50, 7, 7]);
    expect([
      count(FLOW_CONTROL, 'flowschemas'),
      count(FLOW_CONTROL, 'prioritylevelconfigurations'),
      count('scheduling.k8s.io', 'priorityclasses'),
      count('', 'namespaces'),
    ]).toEqual([11, 8, 2, 4]);
    expect(get(client, '', 'services', 'kubernetes', 'default')?.spec).toEqual({
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 16443 }],
      clusterIP: '10.0.0.1',
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      type: 'ClusterIP',
    });
    expect(count('', 'endpoints')).toBe(0);
    expect(get(client, 'networking.k8s.io', 'servicecidrs', 'kubernetes')?.status.conditions).toEqual([
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-15T08:33:39Z', reason: '', message: 'Kubernetes default Service CIDR is ready' },
    ]);
    expect(get(client, FLOW_CONTROL, 'flowschemas', 'probes')?.status.conditions).toMatchObject([
      {
        type: 'Dangling',
        status: 'False',
        reason: 'Found',
        message: 'This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists',
      },
    ]);
    expect(get(client, '', 'configmaps', 'extension-apiserver-authentication', 'kube-system')?.data).toEqual({ 'client-ca-file': authority.certPem });
    expect(get(client, '', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking', 'kube-system')?.data).toEqual({ since: '2026-11-15' });
  });

  it('is written once: a restart writes nothing', async () => {
    const client = new FakeClient();
    await start(client, { advertiseAddress: () => '192.0.2.7', endpointReconciler: 'lease' });
    const before = client.writes.length;
    expect(client.writes.filter((write) => write.startsWith('update '))).toEqual([]);
    await start(client, { advertiseAddress: () => '192.0.2.7', endpointReconciler: 'lease' });
    // But for its lease, which says that it lives.
    expect(client.writes.slice(before).filter((write) => !write.startsWith('update leases '))).toEqual([]);
  });
});

describe('the default ServiceCIDR', () => {
  const eventsAfter = async (stored: object, more: Partial<BootstrapOptions> = {}): Promise<object[]> => {
    const client = new FakeClient();
    const cidr = { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', metadata: { name: 'kubernetes' }, spec: { cidrs: ['10.0.0.0/16'] }, ...stored };
    await client.resource<ApiObject>('networking.k8s.io', 'servicecidrs').create('', cidr as ApiObject);
    await start(client, more);
    return client.resource<ApiObject>('', 'events').informer.list('default');
  };

  it('that differs from the flags is told of in an event', async () => {
    const message = 'The default ServiceCIDR [10.0.0.0/16] does not match the controller flag configurations [10.1.0.0/16]';
    expect(await eventsAfter({}, { cidrs: ['10.1.0.0/16'], serviceIp: '10.1.0.1' })).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^kubernetes\.[0-9a-f]+$/) as string },
        involvedObject: { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', name: 'kubernetes' },
        reason: 'KubernetesDefaultServiceCIDRInconsistent',
        message,
        type: 'Warning',
        source: { component: 'kubernetes-service-cidr-controller' },
      },
    ]);
  });

  it('that somebody made unready is told of with the reason; one that is ready is not', async () => {
    const status = (ready: string): object => ({ status: { conditions: [{ type: 'Ready', status: ready, reason: 'Withdrawn', message: 'it is moved' }] } });
    expect(await eventsAfter(status('False'))).toMatchObject([{ reason: 'Withdrawn', message: 'Configuration matches, but it is moved' }]);
    expect(await eventsAfter(status('True'))).toEqual([]);
  });
});

describe('RBAC reconciliation', () => {
  it('adds what is missing and keeps what was added', async () => {
    const client = new FakeClient();
    await start(client);
    const roles = client.resource<RoleObject>(RBAC_GROUP, 'clusterroles');
    const bindings = client.resource<BindingObject>(RBAC_GROUP, 'clusterrolebindings');
    const extra = { verbs: ['x'], apiGroups: ['y'], resources: ['z'] };
    const viewer = roles.informer.get('', 'system:public-info-viewer')!;
    await roles.update('', 'system:public-info-viewer', (role) => {
      role.rules = [extra];
      delete role.metadata.labels;
    });
    await bindings.update('', 'system:basic-user', (binding) => {
      binding.subjects = [{ kind: 'User', name: 'eve' }];
    });
    await bindings.update('', 'system:discovery', (binding) => {
      binding.roleRef.name = 'cluster-admin';
    });
    await start(client);
    const healed = roles.informer.get('', 'system:public-info-viewer')!;
    expect(healed.metadata.labels).toEqual(viewer.metadata.labels);
    expect(healed.rules?.[0]).toEqual(extra);
    expect(healed.rules?.slice(1).map((rule) => rule.nonResourceURLs![0])).toEqual(viewer.rules![0]!.nonResourceURLs);
    expect(bindings.informer.get('', 'system:basic-user')?.subjects?.map(({ name }) => name)).toEqual(['eve', 'system:authenticated']);
    expect(bindings.informer.get('', 'system:discovery')?.roleRef.name).toBe('system:discovery');
  });

  it('leaves alone what is annotated so', async () => {
    const client = new FakeClient();
    await start(client);
    const roles = client.resource<RoleObject>(RBAC_GROUP, 'clusterroles');
    await roles.update('', 'system:discovery', (role) => {
      role.rules = [];
      role.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    });
    await start(client);
    expect(roles.informer.get('', 'system:discovery')?.rules).toEqual([]);
  });
});

describe('flow control', () => {
  it('restores mandatory objects always, suggested ones unless taken over, and removes what it no longer makes', async () => {
    const client = new FakeClient();
    await start(client);
    const schemas = client.resource<Loose>(FLOW_CONTROL, 'flowschemas');
    const takeOver = (object: Loose): void => {
      object.spec.matchingPrecedence = 7;
      object.metadata.annotations = { 'apf.kubernetes.io/autoupdate-spec': 'false' };
    };
    await schemas.update('', 'catch-all', takeOver);
    await schemas.update('', 'probes', takeOver);
    const old = structuredClone(schemas.informer.get('', 'service-accounts')!);
    await schemas.create('', { ...old, metadata: { name: 'of-old', annotations: old.metadata.annotations! } });
    await start(client);
    expect(schemas.informer.get('', 'catch-all')).toMatchObject({
      spec: { matchingPrecedence: 10000 },
      metadata: { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
    });
    expect(schemas.informer.get('', 'probes')?.spec.matchingPrecedence).toBe(7);
    expect(schemas.informer.get('', 'of-old')).toBeUndefined();
  });

  it('takes back on the way down what says that this server lives', async () => {
    const client = new FakeClient();
    const options = optionsOf({
      advertiseAddress: () => '192.0.2.7',
      peerAddress: () => ({ host: '192.0.2.7', port: '16443' }),
      endpointReconciler: 'lease',
    });
    const peers: string[] = [];
    const peerEndpoints: PeerEndpoints = {
      renew: async (address, port) => void peers.push(`${address}:${port}`),
      remove: async () => void peers.push('removed'),
      addressOf: async () => undefined,
    };
    const { postStart, preShutdown } = bootstrapHooks(client, options, { masterLeases: ownMasterLease(), peerEndpoints });
    await Promise.all(postStart.map((hook) => hook.run(options.signal)));
    const leases = (): number => client.resource('coordination.k8s.io', 'leases').informer.list('kube-system').length;
    const [lease] = client.resource<ApiObject & { spec: { holderIdentity: string } }>('coordination.k8s.io', 'leases').informer.list('kube-system');
    // The same of all workers of a server: another one tells peers that it has started anew.
    expect(lease!.spec.holderIdentity).toBe(`${lease!.metadata.name}_f81d4fae`);
    expect(lease!.metadata.annotations).toEqual({ 'kubernetes.io/peer-advertise-address': '192.0.2.7:16443' });
    expect([leases(), peers]).toEqual([1, ['192.0.2.7:16443']]);
    expect(preShutdown.map(({ name }) => name)).toEqual([
      'peer-endpoint-reconciler-controller',
      'stop-kube-apiserver-identity-lease-controller',
      'stop-kubernetes-service-controller',
    ]);
    for (const { run } of preShutdown) await run();
    expect([leases(), peers.at(-1)]).toEqual([0, 'removed']);
    options.stop();
  });

  it('without RBAC and fairness, neither makes a policy nor tells of levels', () => {
    const { postStart } = bootstrapHooks(new FakeClient(), optionsOf({ isRbacOn: false, isFairnessOn: false }), {
      masterLeases: ownMasterLease(),
      peerEndpoints: noPeerEndpoints,
    });
    const names = postStart.map(({ name }) => name);
    expect(names).not.toContain('rbac/bootstrap-roles');
    expect(names).not.toContain('priority-and-fairness-config-consumer');
    expect(names).toContain('priority-and-fairness-config-producer');
  });

  it('tells of references to levels that come and go', async () => {
    const client = new FakeClient();
    const options = optionsOf();
    await Promise.all(
      bootstrapHooks(client, options, { masterLeases: ownMasterLease(), peerEndpoints: noPeerEndpoints }).postStart.map((hook) => hook.run(options.signal)),
    );
    const status = (): unknown => get(client, FLOW_CONTROL, 'flowschemas', 'mine')?.status.conditions[0]?.reason;
    await client
      .resource(FLOW_CONTROL, 'flowschemas')
      .create('', { kind: 'FlowSchema', apiVersion: 'v1', metadata: { name: 'mine' }, spec: { priorityLevelConfiguration: { name: 'gone' } } } as ApiObject);
    await new Promise(setImmediate);
    expect(status()).toBe('NotFound');
    await client
      .resource(FLOW_CONTROL, 'prioritylevelconfigurations')
      .create('', { kind: 'PriorityLevelConfiguration', apiVersion: 'v1', metadata: { name: 'gone' } });
    await new Promise(setImmediate);
    expect(status()).toBe('Found');
    options.stop();
  });
});

describe('the kubernetes service', () => {
  it('has endpoints where the address is known, until shutdown', async () => {
    const client = new FakeClient();
    const options = await start(client, { advertiseAddress: () => '2001:db8::1', endpointReconciler: 'lease' });
    const slice = (): unknown => get(client, 'discovery.k8s.io', 'endpointslices', 'kubernetes', 'default');
    expect(get(client, '', 'endpoints', 'kubernetes', 'default')).toMatchObject({
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: '2001:db8::1' }], ports: [{ name: 'https', port: 16443, protocol: 'TCP' }] }],
    });
    expect(slice()).toMatchObject({
      addressType: 'IPv6',
      endpoints: [{ addresses: ['2001:db8::1'], conditions: { ready: true } }],
      ports: [{ name: 'https', port: 16443, protocol: 'TCP' }],
    });
    await start(client, { advertiseAddress: () => '192.0.2.7', endpointReconciler: 'lease' });
    expect(slice()).toMatchObject({ addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.7'] }] });
    for (const hook of bootstrapHooks(client, options, { masterLeases: ownMasterLease(), peerEndpoints: noPeerEndpoints }).preShutdown) await hook.run();
    expect(get(client, '', 'endpoints', 'kubernetes', 'default')).toMatchObject({ subsets: [] });
    expect(slice()).toMatchObject({ endpoints: [] });
  });
});

describe('cluster authentication', () => {
  it('joins what is there with what this server trusts', async () => {
    const client = new FakeClient();
    const proxyCa = createAuthority({ commonName: 'proxy' }).certPem;
    const trust = {
      caPem: proxyCa,
      usernameHeaders: ['X-Remote-User'],
      uidHeaders: [],
      groupHeaders: ['X-Remote-Group'],
      extraHeaderPrefixes: ['X-Remote-Extra-'],
      allowedNames: ['front'],
    };
    await start(client, { requestHeader: () => trust });
    const other = createAuthority({ commonName: 'other' }).certPem;
    await start(client, { clientCa: () => other, requestHeader: () => ({ ...trust, allowedNames: ['front', 'back'] }) });
    expect(get(client, '', 'configmaps', 'extension-apiserver-authentication', 'kube-system')?.data).toEqual({
      'client-ca-file': authority.certPem + other,
      'requestheader-client-ca-file': proxyCa,
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-allowed-names': '["front","back"]',
    });
  });

  it('follows the files', async () => {
    const client = new FakeClient();
    let clientCa = authority.certPem;
    let changed = (): void => {};
    const stop = new AbortController();
    await keepClusterAuthentication(client, {
      signal: stop.signal,
      report: vi.fn<(error: Error) => void>(),
      now: () => new Date(),
      clientCa: () => clientCa,
      requestHeader: () => undefined,
      onTrustChange: (listener) => void (changed = listener),
    });
    clientCa = createAuthority({ commonName: 'next' }).certPem;
    changed();
    const data = (): unknown => get(client, '', 'configmaps', 'extension-apiserver-authentication', 'kube-system')?.data;
    await vi.waitFor(() => expect(data()).toEqual({ 'client-ca-file': authority.certPem + clientCa }));
    stop.abort();
  });

  it('is not written where there is nothing to say', async () => {
    const client = new FakeClient();
    await start(client, { clientCa: () => undefined });
    expect(get(client, '', 'configmaps', 'extension-apiserver-authentication', 'kube-system')).toBeUndefined();
  });
});

describe('the tables', () => {
  it.each(Object.entries(TABLES))('%s are those of the facts', (table, facts) => {
    expect(readFileSync(new URL(`data/${table}.json`, import.meta.url), 'utf8')).toBe(tableOf(readFileSync(`${FACTS}/${facts}.json`, 'utf8')));
  });
});
