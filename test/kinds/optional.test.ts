import { beforeAll, describe, expect, test } from 'vitest';
import { groupVersions, resourcesOf } from '../../src/apis/facts/resources.ts';
import type { JsonObject } from '../../src/encoding/json-types.ts';
import type { ApiClient } from '../support/api-client.ts';
import { startServer } from '../support/server.ts';
import { roundTrips } from './round-trip.ts';

/* What --runtime-config and --feature-gates can turn on: each version is served, gives back what it took, and warns as upstream does. */

const CA_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBMDCB46ADAgECAhQ3ta+58ZNAQArP/VNayUg0hbRPezAFBgMrZXAwDTELMAkG
A1UEAwwCY2EwIBcNMjYxMTE1MTMwMjE4WhgPMjEyNjEwMjIxMzAyMThaMA0xCzAJ
BgNVBAMMAmNhMCowBQYDK2VwAyEA13yYCmcod49Iwv1xU757KrHjornAdjLsUZir
Z04KUwCjUzBRMB0GA1UdDgQWBBSbAy+xTqXSvQtvEnRleU35cwbrujAfBgNVHSME
GDAWgBSbAy+xTqXSvQtvEnRleU35cwbrujAPBgNVHRMBAf8EBTADAQH/MAUGAytl
cANBAM87TMQd0GZ+FAHDn8Pfm/4vBXuhCWFgrfU8I3F+4HLGI6rH/fiZkpPBAR0e
sqOBx+pywiOQu1vdfMDE0HKpAQU=
-----END CERTIFICATE-----
`;
/** In PKCS#10, for a key of Ed25519. */
const REQUEST =
  'MIGPMEMCAQAwEDEOMAwGA1UEAwwFYWxpY2UwKjAFBgMrZXADIQCjVCqPZlTOHWuFbnnGk8eqAQf4u6TnGocjXAjvwZLlK6AAMAUGAytlcANBAHE2OjI0Es0C8nt7hUPuqXYcYI8wXqxd1WNSKLkH0LL5cydTsSKnPC1Af/KgMuy177cMJRmDTHqjf5YsUmAbQgA=';

const policy = { matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }] } };
const mutation = { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "b"}}]' } };
const device = { name: 'gpu', attributes: { size: { int: 3 } } };
const slice = { driver: 'gpu.example.com', nodeName: 'n1', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } };
const exact = { deviceClassName: 'gpu.example.com', allocationMode: 'ExactCount', count: 1 };
const group = { schedulingPolicy: { gang: { minCount: 2 } } };

/** By resource; a function where versions differ. */
const EXAMPLES: Record<string, (version: string) => JsonObject> = {
  mutatingadmissionpolicies: () => ({ spec: { ...policy, mutations: [mutation], failurePolicy: 'Fail', reinvocationPolicy: 'Never' } }),
  mutatingadmissionpolicybindings: () => ({ spec: { policyName: 'x' } }),
  clustertrustbundles: () => ({ spec: { trustBundle: CA_CERTIFICATE } }),
  podcertificaterequests: () => ({
    spec: {
      signerName: 'example.com/x',
      podName: 'p',
      podUID: 'u1',
      serviceAccountName: 'default',
      serviceAccountUID: 'u2',
      nodeName: 'n1',
      nodeUID: 'u3',
      maxExpirationSeconds: 3600,
      stubPKCS10Request: REQUEST,
      unverifiedUserAnnotations: { 'example.com/a': 'b' },
    },
  }),
  leasecandidates: () => ({ spec: { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' } }),
  storageversions: () => ({ spec: {} }),
  ipaddresses: () => ({ metadata: { name: '192.168.7.9' }, spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } } }),
  servicecidrs: () => ({ spec: { cidrs: ['10.77.0.0/24'] } }),
  volumeattributesclasses: () => ({ driverName: 'd.example.com', parameters: { a: 'b' } }),
  storageversionmigrations: () => ({ spec: { resource: { group: 'apps', resource: 'deployments' } } }),
  deviceclasses: () => ({ spec: { selectors: [{ cel: { expression: 'true' } }] } }),
  resourceclaims: (version) => ({ spec: { devices: { requests: [version === 'v1beta1' ? { name: 'a', ...exact } : { name: 'a', exactly: exact }] } } }),
  resourceclaimtemplates: (version) => ({
    spec: { spec: { devices: { requests: [version === 'v1beta1' ? { name: 'a', ...exact } : { name: 'a', exactly: exact }] } } },
  }),
  resourceslices: (version) => ({ spec: { ...slice, devices: [version === 'v1beta1' ? { name: 'gpu', basic: { attributes: device.attributes } } : device] } }),
  devicetaintrules: () => ({ spec: { deviceSelector: { driver: 'gpu.example.com' }, taint: { key: 'example.com/broken', effect: 'NoExecute' } } }),
  resourcepoolstatusrequests: () => ({ spec: { driver: 'gpu.example.com', poolName: 'a/b' } }),
  podgroups: () => ({
    spec: {
      ...group,
      podGroupTemplateRef: { workload: { workloadName: 'w', podGroupTemplateName: 't' } },
      resourceClaims: [{ name: 'c', resourceClaimName: 'r' }],
    },
  }),
  workloads: () => ({
    spec: { podGroupTemplates: [{ name: 't', ...group, schedulingConstraints: { topology: [{ key: 'example.com/rack' }] }, priority: 5 }] },
  }),
};

/** What the server of v1.36 says of a version that will go. */
const DEPRECATIONS: Record<string, string> = {
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies': 'in v1.35+, unavailable in v1.38+',
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings': 'in v1.35+, unavailable in v1.38+',
  'certificates.k8s.io/v1alpha1/clustertrustbundles': 'in v1.34+, unavailable in v1.37+',
  'coordination.k8s.io/v1alpha2/leasecandidates': 'in v1.35+, unavailable in v1.38+',
  'coordination.k8s.io/v1beta1/leasecandidates': 'in v1.36+, unavailable in v1.39+',
  'networking.k8s.io/v1beta1/ipaddresses': 'in v1.34+, unavailable in v1.37+',
  'resource.k8s.io/v1alpha3/devicetaintrules': 'in v1.36+, unavailable in v1.39+',
  'networking.k8s.io/v1beta1/servicecidrs': 'in v1.34+, unavailable in v1.37+',
  'storage.k8s.io/v1beta1/volumeattributesclasses': 'in v1.34+, unavailable in v1.37+',
};

for (const plural of ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices']) {
  DEPRECATIONS[`resource.k8s.io/v1beta1/${plural}`] = 'in v1.35+, unavailable in v1.38+';
  DEPRECATIONS[`resource.k8s.io/v1beta2/${plural}`] = 'in v1.36+, unavailable in v1.39+';
}

const OPTIONAL = groupVersions
  .filter(({ isOnByDefault }) => !isOnByDefault)
  .flatMap(({ group: apiGroup, version, groupVersion }) =>
    resourcesOf(apiGroup, version).map(({ plural, namespaced }) => ({
      name: `${groupVersion}/${plural}`,
      version,
      plural,
      collection: `/apis/${groupVersion}/${namespaced ? 'namespaces/default/' : ''}${plural}`,
    })),
  );

describe('with everything on', () => {
  let client: ApiClient;
  beforeAll(async () => {
    // Groups of pods are taken without the workload that they name.
    const flags = ['--runtime-config=api/all=true', '--feature-gates=AllAlpha=true,AllBeta=true', '--disable-admission-plugins=PodGroupWorkloadExists'];
    const server = await startServer({ flags });
    client = server.client();
    await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  });

  test.each(OPTIONAL)('$name', async ({ name, version, plural, collection }) => {
    // Not the name of a resource that this server has: it would write it itself.
    const example: JsonObject = { metadata: { name: plural === 'storageversions' ? 'example.com.widgets' : 'one' }, ...EXAMPLES[plural]!(version) };
    expect(await roundTrips(client, collection, example)).toBe(true);
    const { warning = '' } = (await client.expect(200, { path: collection })).headers;
    expect(/deprecated (.*?)[";]/.exec(String(warning))?.[1] ?? '').toBe(DEPRECATIONS[name] ?? '');
  });

  test('one object, in each of its versions', async () => {
    const claims = '/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims';
    await client.create(claims, { metadata: { name: 'many' }, ...EXAMPLES['resourceclaims']!('v1beta1') });
    const requestsIn = async (version: string): Promise<unknown> =>
      ((await client.get(`/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims/many`)).spec as { devices: { requests: unknown } }).devices
        .requests;
    expect(await requestsIn('v1beta1')).toEqual([{ name: 'a', ...exact }]);
    expect(await requestsIn('v1beta2')).toEqual([{ name: 'a', exactly: exact }]);
    expect(await requestsIn('v1')).toEqual([{ name: 'a', exactly: exact }]);
  });

  test('fields of features are kept', async () => {
    const pod = await client.create('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: {
        os: { name: 'linux' },
        schedulingGroup: { podGroupName: 'g' },
        containers: [{ name: 'a', image: 'a', lifecycle: { stopSignal: 'SIGUSR1' } }],
        tolerations: [{ key: 'a', operator: 'Gt', value: '5' }],
        volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'ca' } }] } }],
      },
    });
    expect(pod.spec).toMatchObject({
      schedulingGroup: { podGroupName: 'g' },
      containers: [{ lifecycle: { stopSignal: 'SIGUSR1' } }],
      volumes: [{ projected: { sources: [{ clusterTrustBundle: { name: 'b', path: 'ca' } }] } }, {}],
    });
    const set = await client.create('/apis/apps/v1/namespaces/default/statefulsets', {
      metadata: { name: 's' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } } },
    });
    expect(set.spec).toMatchObject({ updateStrategy: { rollingUpdate: { partition: 0, maxUnavailable: 1 } } });
    const lease = await client.create('/apis/coordination.k8s.io/v1/namespaces/default/leases', {
      metadata: { name: 'l' },
      spec: { strategy: 'OldestEmulationVersion' },
    });
    expect(lease.spec).toEqual({ strategy: 'OldestEmulationVersion' });
  });

  test("a pod's certificate is its signer's to write", async () => {
    const path = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests';
    const request = await client.create(path, { metadata: { name: 'mine' }, ...EXAMPLES['podcertificaterequests']!('v1beta1') });
    const conditions = [{ type: 'Denied', status: 'True', reason: 'No', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const denied = await client.update(`${path}/mine/status`, { ...request, status: { conditions } });
    expect(denied.status).toEqual({ conditions });
    const again = await client.send({ method: 'PUT', path: `${path}/mine/status`, body: { ...denied, status: {} } });
    expect(again.json<{ message: string }>().message).toContain('status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed');
  });
});

describe('with every version on, but no feature', () => {
  test('kinds behind a feature are not there', async () => {
    const server = await startServer({ flags: ['--runtime-config=api/all=true'] });
    const client = server.client();
    for (const groupVersion of ['certificates.k8s.io/v1alpha1', 'certificates.k8s.io/v1beta1', 'scheduling.k8s.io/v1alpha2', 'storagemigration.k8s.io/v1beta1'])
      expect((await client.send({ path: `/apis/${groupVersion}` })).status).toBe(404);
    await client.get('/apis/coordination.k8s.io/v1beta1');
  });

  test('one resource of a version can be on alone', async () => {
    const server = await startServer({ flags: ['--runtime-config=resource.k8s.io/v1beta2/devicetaintrules=true'] });
    const { resources } = await server.client().get<{ resources: { name: string }[] }>('/apis/resource.k8s.io/v1beta2');
    expect(resources.map(({ name }) => name)).toEqual(['devicetaintrules', 'devicetaintrules/status']);
  });
});
