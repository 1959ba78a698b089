/**
 * Versions in which kube-apiserver v1.36 reads what is stored, of resources of which it reads more than it serves by default: as it records them itself, its own
 * order (StorageVersion objects of a server with StorageVersionAPI).
 */
const READABLE: readonly [group: string, versions: string, resources: string][] = [
  [
    'admissionregistration.k8s.io',
    'v1 v1beta1 v1alpha1',
    'mutatingadmissionpolicies mutatingadmissionpolicybindings validatingadmissionpolicies validatingadmissionpolicybindings',
  ],
  ['admissionregistration.k8s.io', 'v1 v1beta1', 'mutatingwebhookconfigurations validatingwebhookconfigurations'],
  ['apiextensions.k8s.io', 'v1 v1beta1', 'customresourcedefinitions'],
  ['apiregistration.k8s.io', 'v1 v1beta1', 'apiservices'],
  ['apps', 'v1 v1beta2 v1beta1', 'controllerrevisions deployments statefulsets'],
  ['apps', 'v1 v1beta2', 'daemonsets replicasets'],
  ['batch', 'v1 v1beta1', 'cronjobs'],
  ['certificates.k8s.io', 'v1 v1beta1', 'certificatesigningrequests'],
  ['coordination.k8s.io', 'v1 v1beta1', 'leases'],
  ['discovery.k8s.io', 'v1 v1beta1', 'endpointslices'],
  ['flowcontrol.apiserver.k8s.io', 'v1 v1beta3 v1beta2 v1beta1', 'flowschemas prioritylevelconfigurations'],
  ['networking.k8s.io', 'v1 v1beta1', 'ingressclasses ingresses ipaddresses servicecidrs'],
  ['node.k8s.io', 'v1 v1beta1 v1alpha1', 'runtimeclasses'],
  ['policy', 'v1 v1beta1', 'poddisruptionbudgets'],
  ['rbac.authorization.k8s.io', 'v1 v1beta1 v1alpha1', 'clusterrolebindings clusterroles rolebindings roles'],
  ['resource.k8s.io', 'v1 v1beta2 v1beta1', 'deviceclasses resourceclaims resourceclaimtemplates resourceslices'],
  ['scheduling.k8s.io', 'v1 v1beta1', 'priorityclasses'],
  ['storage.k8s.io', 'v1 v1beta1', 'csidrivers csinodes storageclasses'],
  ['storage.k8s.io', 'v1 v1beta1 v1alpha1', 'csistoragecapacities volumeattachments volumeattributesclasses'],
];

const byResource = new Map(
  READABLE.flatMap(([group, versions, resources]) =>
    resources.split(' ').map((resource) => [`${resource}.${group}`, versions.split(' ').map((version) => `${group}/${version}`)] as const),
  ),
);

/** Undefined where only what is served is read. */
export const readableVersions = (group: string, resource: string): readonly string[] | undefined => byResource.get(`${resource}.${group}`);
