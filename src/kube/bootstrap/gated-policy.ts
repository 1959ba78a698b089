import { type BindingObject, type PolicyRule, RBAC_GROUP, type RoleObject, type Subject } from '../../authorization/rbac-objects.ts';

type GatedRules = readonly (readonly [gate: string, role: string, ...rules: PolicyRule[]])[];

const allow = (verbs: string, apiGroup: string, ...resources: string[]): PolicyRule => ({ verbs: verbs.split(' '), apiGroups: [apiGroup], resources });

const READ = 'get list watch';
const CHANGE = 'patch update';
const RESOURCE = 'resource.k8s.io';
const SCHEDULING = 'scheduling.k8s.io';
const CERTIFICATES = 'certificates.k8s.io';
const EVENTS: PolicyRule = { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] };
const CONTROLLER = 'system:controller:';

/** Rules of the default policy that go with a feature. All of them are on where nobody says otherwise. */
const TAKEN_WITHOUT: GatedRules = [
  ['KubeletServiceAccountTokenForCredentialProviders', 'system:node', allow('get', '', 'serviceaccounts')],
  ['DynamicResourceAllocation', 'system:aggregate-to-view', allow(READ, RESOURCE, 'resourceclaims', 'resourceclaims/status', 'resourceclaimtemplates')],
  [
    'DynamicResourceAllocation',
    'system:aggregate-to-edit',
    allow('create delete deletecollection patch update', RESOURCE, 'resourceclaims', 'resourceclaimtemplates'),
  ],
  ['DynamicResourceAllocation', 'system:node', allow('get', RESOURCE, 'resourceclaims'), allow('deletecollection', RESOURCE, 'resourceslices')],
  [
    'DynamicResourceAllocation',
    'system:kube-scheduler',
    allow(READ, RESOURCE, 'deviceclasses'),
    allow('get list patch update watch', RESOURCE, 'resourceclaims'),
    allow('get list patch update watch', RESOURCE, 'resourceclaims/status'),
    allow('update', '', 'pods/finalizers'),
    allow(READ, RESOURCE, 'resourceslices'),
    allow('create delete', RESOURCE, 'resourceclaims'),
    allow(CHANGE, RESOURCE, 'resourceclaims/binding'),
  ],
  ['DRAExtendedResource', 'system:kube-scheduler', allow('create delete', RESOURCE, 'resourceclaims')],
  ['DRAResourceClaimGranularStatusAuthorization', 'system:kube-scheduler', allow(CHANGE, RESOURCE, 'resourceclaims/binding')],
  ['DRAResourceClaimGranularStatusAuthorization', `${CONTROLLER}resource-claim-controller`, allow(CHANGE, RESOURCE, 'resourceclaims/binding')],
];

/** The same of paths that monitoring may read. */
const PATHS_TAKEN_WITHOUT = [
  ['ComponentFlagz', '/flagz'],
  ['ComponentStatusz', '/statusz'],
] as const;

/** Roles that are not there without a feature. */
const ROLES_TAKEN_WITHOUT = [
  ['DRADeviceTaints', `${CONTROLLER}device-taint-eviction-controller`],
  ['DynamicResourceAllocation', `${CONTROLLER}device-taint-eviction-controller`],
  ['DynamicResourceAllocation', `${CONTROLLER}resource-claim-controller`],
  ['VolumeAttributesClass', `${CONTROLLER}volumeattributesclass-protection-controller`],
] as const;

/** Rules that come with a feature; a role that is not there yet is made, and bound to the account of its controller. */
const ADDED_WITH: GatedRules = [
  ['GenericWorkload', 'system:aggregate-to-view', allow(READ, SCHEDULING, 'podgroups', 'podgroups/status', 'workloads')],
  ['GenericWorkload', 'system:aggregate-to-edit', allow('create delete deletecollection patch update', SCHEDULING, 'podgroups', 'workloads')],
  ['GenericWorkload', 'system:kube-scheduler', allow(READ, SCHEDULING, 'podgroups'), allow(CHANGE, SCHEDULING, 'podgroups/status')],
  ['GenericWorkload', `${CONTROLLER}podgroup-protection-controller`, allow('get list update watch', SCHEDULING, 'podgroups'), allow(READ, '', 'pods')],
  ['WorkloadWithJob', `${CONTROLLER}job-controller`, allow('create get list watch', SCHEDULING, 'podgroups', 'workloads')],
  ['ClusterTrustBundle', 'system:node', allow(READ, CERTIFICATES, 'clustertrustbundles')],
  ['ClusterTrustBundle', 'system:cluster-trust-bundle-discovery', allow(READ, CERTIFICATES, 'clustertrustbundles')],
  [
    'ClusterTrustBundle',
    `${CONTROLLER}kube-apiserver-serving-clustertrustbundle-publisher`,
    { ...allow('attest', CERTIFICATES, 'signers'), resourceNames: ['kubernetes.io/kube-apiserver-serving'] },
    allow('create delete list update watch', CERTIFICATES, 'clustertrustbundles'),
    EVENTS,
  ],
  ['PodCertificateRequest', 'system:node', allow('create get list watch', CERTIFICATES, 'podcertificaterequests')],
  ['PodCertificateRequest', `${CONTROLLER}podcertificaterequestcleaner`, allow('delete get list watch', CERTIFICATES, 'podcertificaterequests')],
  ['DRADeviceTaintRules', 'system:kube-scheduler', allow(READ, RESOURCE, 'devicetaintrules')],
  [
    'DRADeviceTaintRules',
    `${CONTROLLER}device-taint-eviction-controller`,
    allow(CHANGE, RESOURCE, 'devicetaintrules/status'),
    allow(READ, RESOURCE, 'devicetaintrules'),
  ],
  ['DRAWorkloadResourceClaims', `${CONTROLLER}resource-claim-controller`, allow(READ, SCHEDULING, 'podgroups'), allow(CHANGE, SCHEDULING, 'podgroups/status')],
  [
    'DRAResourcePoolStatus',
    `${CONTROLLER}resourcepoolstatusrequest-controller`,
    allow('delete get list watch', RESOURCE, 'resourcepoolstatusrequests'),
    allow(CHANGE, RESOURCE, 'resourcepoolstatusrequests/status'),
    allow(READ, RESOURCE, 'resourceslices'),
    allow(READ, RESOURCE, 'resourceclaims'),
    EVENTS,
  ],
  [
    'StorageVersionAPI',
    `${CONTROLLER}storage-version-garbage-collector`,
    allow(READ, 'coordination.k8s.io', 'leases'),
    allow('delete get list patch update watch', 'internal.apiserver.k8s.io', 'storageversions'),
    allow('get patch update', 'internal.apiserver.k8s.io', 'storageversions/status'),
  ],
  [
    'StorageVersionMigrator',
    `${CONTROLLER}storage-version-migrator-controller`,
    allow('create list patch', '*', '*'),
    allow('get', 'apiextensions.k8s.io', 'customresourcedefinitions'),
    allow('patch', 'apiextensions.k8s.io', 'customresourcedefinitions/status'),
    allow('update', 'storagemigration.k8s.io', 'storageversionmigrations/status'),
  ],
];

type IsEnabled = (gate: string) => boolean;

const API_VERSION = `${RBAC_GROUP}/v1`;
const METADATA = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
};

/** The default roles of a cluster as features have them (plugin/pkg/auth/authorizer/rbac/bootstrappolicy). */
export function gatedRoles(roles: readonly RoleObject[], isEnabled: IsEnabled): RoleObject[] {
  const kept = roles.filter(({ metadata }) => !isTaken(metadata.name, isEnabled)).map((role) => ({ ...role, rules: keptRules(role, isEnabled) }));
  const byName = new Map(kept.map((role) => [role.metadata.name, role]));
  for (const [, name, ...rules] of ADDED_WITH.filter(([gate]) => isEnabled(gate))) {
    const role = byName.get(name);
    if (role) role.rules = [...(role.rules ?? []), ...rules];
    else byName.set(name, { kind: 'ClusterRole', apiVersion: API_VERSION, metadata: { name, ...METADATA }, rules });
  }
  return [...byName.values()];
}

/** The default bindings, with those of the roles that came, and without those of the ones that went. */
export function gatedBindings(bindings: readonly BindingObject[], roles: readonly RoleObject[]): BindingObject[] {
  const names = new Set(roles.map(({ metadata }) => metadata.name));
  const kept = bindings.filter(({ roleRef }) => names.has(roleRef.name));
  const bound = new Set(kept.map(({ roleRef }) => roleRef.name));
  const added = ADDED_WITH.map(([, name]) => name).filter((name) => names.has(name) && !bound.has(name) && subjectsOf(name) !== undefined);
  return [...kept, ...[...new Set(added)].map(bindingOf)];
}

const isTaken = (name: string | undefined, isEnabled: IsEnabled): boolean => ROLES_TAKEN_WITHOUT.some(([gate, role]) => role === name && !isEnabled(gate));

function keptRules({ metadata, rules }: RoleObject, isEnabled: IsEnabled): PolicyRule[] | null {
  if (!rules) return null;
  const taken = TAKEN_WITHOUT.filter(([gate, role]) => role === metadata.name && !isEnabled(gate)).flatMap(([, , ...gone]) => gone.map(identityOf));
  const paths = new Set<string>(PATHS_TAKEN_WITHOUT.filter(([gate]) => !isEnabled(gate)).map(([, path]) => path));
  return rules
    .filter((rule) => !taken.includes(identityOf(rule)))
    .map((rule) => (rule.nonResourceURLs && paths.size > 0 ? { ...rule, nonResourceURLs: rule.nonResourceURLs.filter((path) => !paths.has(path)) } : rule));
}

const identityOf = ({ verbs, apiGroups, resources }: PolicyRule): string => JSON.stringify([verbs, apiGroups, resources]);

function subjectsOf(role: string): Subject[] | undefined {
  if (role === 'system:cluster-trust-bundle-discovery') return [{ kind: 'Group', apiGroup: RBAC_GROUP, name: 'system:serviceaccounts' }];
  if (!role.startsWith(CONTROLLER)) return undefined;
  return [{ kind: 'ServiceAccount', name: role.slice(CONTROLLER.length), namespace: 'kube-system' }];
}

const bindingOf = (name: string): BindingObject => ({
  kind: 'ClusterRoleBinding',
  apiVersion: API_VERSION,
  metadata: { name, ...METADATA },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
  subjects: subjectsOf(name)!,
});
