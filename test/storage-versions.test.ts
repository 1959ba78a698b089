import { expect, test } from 'vitest';
import { freePorts } from './support/free-ports.ts';
import { ServerProcess, startServer } from './support/server.ts';

/* StorageVersionAPI: what a server says of how it stores each resource, and whom it lets write before. */

const FLAGS = ['--feature-gates=StorageVersionAPI=true', '--runtime-config=internal.apiserver.k8s.io/v1alpha1=true'];
const PATH = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';

/** What a kube-apiserver v1.36.4 with the same flags has recorded: name, encoding, decodable and served versions. */
const RECORDED = `
  admissionregistration.k8s.io.mutatingadmissionpolicies admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1,admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1
  admissionregistration.k8s.io.mutatingadmissionpolicybindings admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1,admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1
  admissionregistration.k8s.io.mutatingwebhookconfigurations admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1
  admissionregistration.k8s.io.validatingadmissionpolicies admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1,admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1
  admissionregistration.k8s.io.validatingadmissionpolicybindings admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1,admissionregistration.k8s.io/v1alpha1 admissionregistration.k8s.io/v1
  admissionregistration.k8s.io.validatingwebhookconfigurations admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1,admissionregistration.k8s.io/v1beta1 admissionregistration.k8s.io/v1
  apiextensions.k8s.io.customresourcedefinitions apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1,apiextensions.k8s.io/v1beta1 apiextensions.k8s.io/v1
  apiregistration.k8s.io.apiservices apiregistration.k8s.io/v1 apiregistration.k8s.io/v1,apiregistration.k8s.io/v1beta1 apiregistration.k8s.io/v1
  apps.controllerrevisions apps/v1 apps/v1,apps/v1beta2,apps/v1beta1 apps/v1
  apps.daemonsets apps/v1 apps/v1,apps/v1beta2 apps/v1
  apps.deployments apps/v1 apps/v1,apps/v1beta2,apps/v1beta1 apps/v1
  apps.replicasets apps/v1 apps/v1,apps/v1beta2 apps/v1
  apps.statefulsets apps/v1 apps/v1,apps/v1beta2,apps/v1beta1 apps/v1
  autoscaling.horizontalpodautoscalers autoscaling/v2 autoscaling/v2,autoscaling/v1 autoscaling/v2,autoscaling/v1
  batch.cronjobs batch/v1 batch/v1,batch/v1beta1 batch/v1
  batch.jobs batch/v1 batch/v1 batch/v1
  certificates.k8s.io.certificatesigningrequests certificates.k8s.io/v1 certificates.k8s.io/v1,certificates.k8s.io/v1beta1 certificates.k8s.io/v1
  coordination.k8s.io.leases coordination.k8s.io/v1 coordination.k8s.io/v1,coordination.k8s.io/v1beta1 coordination.k8s.io/v1
  core.configmaps v1 v1 v1
  core.endpoints v1 v1 v1
  core.events v1 v1,events.k8s.io/v1 v1
  core.limitranges v1 v1 v1
  core.namespaces v1 v1 v1
  core.nodes v1 v1 v1
  core.persistentvolumeclaims v1 v1 v1
  core.persistentvolumes v1 v1 v1
  core.pods v1 v1 v1
  core.podtemplates v1 v1 v1
  core.replicationcontrollers v1 v1 v1
  core.resourcequotas v1 v1 v1
  core.secrets v1 v1 v1
  core.serviceaccounts v1 v1 v1
  core.services v1 v1 v1
  discovery.k8s.io.endpointslices discovery.k8s.io/v1 discovery.k8s.io/v1,discovery.k8s.io/v1beta1 discovery.k8s.io/v1
  flowcontrol.apiserver.k8s.io.flowschemas flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1,flowcontrol.apiserver.k8s.io/v1beta3,flowcontrol.apiserver.k8s.io/v1beta2,flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1
  flowcontrol.apiserver.k8s.io.prioritylevelconfigurations flowcontrol.apiserver.k8s.io/v1 flowcontrol.apiserver.k8s.io/v1,flowcontrol.apiserver.k8s.io/v1beta3,flowcontrol.apiserver.k8s.io/v1beta2,flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1
  internal.apiserver.k8s.io.storageversions internal.apiserver.k8s.io/v1alpha1 internal.apiserver.k8s.io/v1alpha1 internal.apiserver.k8s.io/v1alpha1
  networking.k8s.io.ingressclasses networking.k8s.io/v1 networking.k8s.io/v1,networking.k8s.io/v1beta1 networking.k8s.io/v1
  networking.k8s.io.ingresses networking.k8s.io/v1 networking.k8s.io/v1,networking.k8s.io/v1beta1 networking.k8s.io/v1
  networking.k8s.io.ipaddresses networking.k8s.io/v1 networking.k8s.io/v1,networking.k8s.io/v1beta1 networking.k8s.io/v1
  networking.k8s.io.networkpolicies networking.k8s.io/v1 networking.k8s.io/v1 networking.k8s.io/v1
  networking.k8s.io.servicecidrs networking.k8s.io/v1 networking.k8s.io/v1,networking.k8s.io/v1beta1 networking.k8s.io/v1
  node.k8s.io.runtimeclasses node.k8s.io/v1 node.k8s.io/v1,node.k8s.io/v1beta1,node.k8s.io/v1alpha1 node.k8s.io/v1
  policy.poddisruptionbudgets policy/v1 policy/v1,policy/v1beta1 policy/v1
  rbac.authorization.k8s.io.clusterrolebindings rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1,rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1
  rbac.authorization.k8s.io.clusterroles rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1,rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1
  rbac.authorization.k8s.io.rolebindings rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1,rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1
  rbac.authorization.k8s.io.roles rbac.authorization.k8s.io/v1 rbac.authorization.k8s.io/v1,rbac.authorization.k8s.io/v1beta1,rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1
  resource.k8s.io.deviceclasses resource.k8s.io/v1 resource.k8s.io/v1,resource.k8s.io/v1beta2,resource.k8s.io/v1beta1 resource.k8s.io/v1
  resource.k8s.io.resourceclaims resource.k8s.io/v1 resource.k8s.io/v1,resource.k8s.io/v1beta2,resource.k8s.io/v1beta1 resource.k8s.io/v1
  resource.k8s.io.resourceclaimtemplates resource.k8s.io/v1 resource.k8s.io/v1,resource.k8s.io/v1beta2,resource.k8s.io/v1beta1 resource.k8s.io/v1
  resource.k8s.io.resourceslices resource.k8s.io/v1 resource.k8s.io/v1,resource.k8s.io/v1beta2,resource.k8s.io/v1beta1 resource.k8s.io/v1
  scheduling.k8s.io.priorityclasses scheduling.k8s.io/v1 scheduling.k8s.io/v1,scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1
  storage.k8s.io.csidrivers storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1 storage.k8s.io/v1
  storage.k8s.io.csinodes storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1 storage.k8s.io/v1
  storage.k8s.io.csistoragecapacities storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1,storage.k8s.io/v1alpha1 storage.k8s.io/v1
  storage.k8s.io.storageclasses storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1 storage.k8s.io/v1
  storage.k8s.io.volumeattachments storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1,storage.k8s.io/v1alpha1 storage.k8s.io/v1
  storage.k8s.io.volumeattributesclasses storage.k8s.io/v1 storage.k8s.io/v1,storage.k8s.io/v1beta1,storage.k8s.io/v1alpha1 storage.k8s.io/v1
`;

interface Recorded {
  metadata: { name: string };
  status: {
    storageVersions: { apiServerID: string; encodingVersion: string; decodableVersions: string[]; servedVersions: string[] }[];
    commonEncodingVersion: string;
    conditions: { type: string; status: string; reason: string; message: string }[];
  };
}

test('every resource is recorded as kube-apiserver records it', async () => {
  const server = await startServer({ flags: FLAGS });
  const client = server.client();
  await expect
    .poll(async () => (await client.send({ path: '/readyz/poststarthook/built-in-resources-storage-version-updater' })).status, { timeout: 30_000 })
    .toBe(200);
  const { items } = await client.get<{ items: Recorded[] }>(PATH);
  const lines = items.map(
    ({
      metadata,
      status: {
        storageVersions: [own],
      },
    }) => [metadata.name, own!.encodingVersion, own!.decodableVersions.join(','), own!.servedVersions.join(',')].join(' '),
  );
  expect(lines).toEqual(
    RECORDED.trim()
      .split('\n')
      .map((line) => line.trim()),
  );
  expect(items[0]).toMatchObject({
    status: {
      storageVersions: [{ apiServerID: expect.stringMatching(/^apiserver-[a-z0-9]{26}$/) }],
      commonEncodingVersion: 'admissionregistration.k8s.io/v1beta1',
      conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet', message: 'Common encoding version set' }],
    },
  });
  await client.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } });
  await server.stop();
});

test('a server that has not recorded its versions takes no writes of them', async () => {
  // The API for it is off, so that nothing is ever recorded, and the server never ready.
  const [port] = await freePorts(1);
  const server = await new ServerProcess({ port: port!, flags: [FLAGS[0]!, '--v=1'] }).listening();
  const client = server.client();
  const body = { metadata: { name: 'a' } };
  const refused = (await client.expect(503, { method: 'POST', path: '/api/v1/namespaces/default/configmaps', body })).json();
  expect(refused).toMatchObject({
    reason: 'ServiceUnavailable',
    message: expect.stringMatching(/^wait for storage version registration to complete for resource: configmaps, last seen error: /),
  });
  await client.expect(503, { method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/default/events', body });
  await client.expect(200, { path: '/api/v1/namespaces/default/configmaps' });
  await client.create('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', { metadata: { name: 'leader' } });
  await client.expect(201, {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } },
  });
  await server.stop();
});
