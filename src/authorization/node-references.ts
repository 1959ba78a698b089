import type { ApiObject } from '../api/api-object.ts';

/* What pods and volumes refer to (pkg/api/v1/pod and pkg/api/v1/persistentvolume). */

/** What a node may reach through the graph. */
export type ReachableKind =
  | 'secret'
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'resourceclaim'
  | 'serviceaccount'
  | 'pod'
  | 'volumeattachment'
  | 'resourceslice'
  | 'podcertificaterequest';

/** One thing in the graph; the namespace of what has none is ''. */
export const nodeReferenceKey = (kind: ReachableKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

interface NameReference {
  name?: string;
}

interface SecretReference extends NameReference {
  namespace?: string;
}

interface Container {
  envFrom?: { secretRef?: NameReference; configMapRef?: NameReference }[];
  env?: { valueFrom?: { secretKeyRef?: NameReference; configMapKeyRef?: NameReference } }[];
}

interface Volume {
  name?: string;
  secret?: { secretName?: string };
  configMap?: NameReference;
  azureFile?: { secretName?: string };
  projected?: { sources?: { secret?: NameReference; configMap?: NameReference }[] };
  csi?: { nodePublishSecretRef?: NameReference };
  persistentVolumeClaim?: { claimName?: string };
  ephemeral?: object;
}

export interface Pod extends ApiObject {
  spec?: {
    nodeName?: string;
    serviceAccountName?: string;
    imagePullSecrets?: NameReference[];
    containers?: Container[];
    initContainers?: Container[];
    ephemeralContainers?: Container[];
    volumes?: Volume[];
    resourceClaims?: { name?: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
  };
  status?: {
    resourceClaimStatuses?: { name?: string; resourceClaimName?: string }[];
    extendedResourceClaimStatus?: { resourceClaimName?: string };
  };
}

export interface PersistentVolume extends ApiObject {
  spec?: Record<string, unknown> & { claimRef?: SecretReference };
}

const MIRROR_POD = 'kubernetes.io/config.mirror';
/** Sources of a pod's volumes that have a `secretRef`. */
const SOURCES_WITH_SECRET = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'];

/** Keys of all that the pod's node needs for it. Nothing for a mirror pod: a node makes those itself, and must not give itself rights by them. */
export function podReferences(pod: Pod): string[] {
  const { metadata, spec = {}, status = {} } = pod;
  if (Object.hasOwn(metadata.annotations ?? {}, MIRROR_POD)) return [];
  const namespace = metadata.namespace ?? '';
  const volumes = spec.volumes ?? [];
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  const secrets = [...(spec.imagePullSecrets ?? []).map(({ name }) => name), ...containers.flatMap(containerSecrets), ...volumes.flatMap(podVolumeSecrets)];
  const configMaps = [...containers.flatMap(containerConfigMaps), ...volumes.flatMap(volumeConfigMaps)];
  const claims = volumes.map((volume) => volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral && `${metadata.name}-${volume.name}`));
  const claimsMade = new Map((status.resourceClaimStatuses ?? []).toReversed().map(({ name, resourceClaimName: made }) => [name, made]));
  const resourceClaims = [
    ...(spec.resourceClaims ?? []).map((claim) => resourceClaimName(claim, claimsMade)),
    status.extendedResourceClaimStatus?.resourceClaimName,
  ];
  const keys = (kind: ReachableKind, names: readonly (string | undefined)[]): string[] =>
    names.filter((name) => name !== undefined && name !== '').map((name) => nodeReferenceKey(kind, namespace, name!));
  return [
    ...new Set([
      ...keys('serviceaccount', [spec.serviceAccountName]),
      ...keys('secret', secrets),
      ...keys('configmap', configMaps),
      ...keys('persistentvolumeclaim', claims),
      ...keys('resourceclaim', resourceClaims),
    ]),
  ];
}

type Names = (string | undefined)[];

const containerSecrets = ({ envFrom = [], env = [] }: Container): Names => [
  ...envFrom.map(({ secretRef }) => secretRef?.name),
  ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
];

const containerConfigMaps = ({ envFrom = [], env = [] }: Container): Names => [
  ...envFrom.map(({ configMapRef }) => configMapRef?.name),
  ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
];

const podVolumeSecrets = (volume: Volume): Names => [
  volume.secret?.secretName,
  volume.azureFile?.secretName,
  volume.csi?.nodePublishSecretRef?.name,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  ...SOURCES_WITH_SECRET.map((source) => (volume as Record<string, { secretRef?: NameReference } | undefined>)[source]?.secretRef?.name),
];

const volumeConfigMaps = (volume: Volume): Names => [volume.configMap?.name, ...(volume.projected?.sources ?? []).map(({ configMap }) => configMap?.name)];

/** A claim of a template is named in the status, once it was made. */
function resourceClaimName(
  { name, resourceClaimName: direct, resourceClaimTemplateName }: { name?: string; resourceClaimName?: string; resourceClaimTemplateName?: string },
  claimsMade: ReadonlyMap<string | undefined, string | undefined>,
): string | undefined {
  if (direct !== undefined) return direct;
  return resourceClaimTemplateName === undefined ? undefined : claimsMade.get(name);
}

export function claimKeyOf({ spec }: PersistentVolume): string | undefined {
  const claim = spec?.claimRef;
  return claim && nodeReferenceKey('persistentvolumeclaim', claim.namespace ?? '', claim.name ?? '');
}

/** Sources of a persistent volume whose `secretRef` is in the claim's namespace where it names none. */
const SOURCES_BY_CLAIM = ['cephfs', 'flexVolume', 'rbd', 'scaleIO', 'iscsi'];
/** Sources whose `secretRef` names its namespace. */
const SOURCES_BY_NAMESPACE = ['cinder', 'storageos'];
/** Of CSI's, those that a node uses itself. */
const NODE_SECRETS = ['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'];

/** Keys of the secrets that a node needs to mount the volume. */
export function volumeSecrets({ spec = {} }: PersistentVolume): string[] {
  const claimNamespace = spec.claimRef?.namespace ?? '';
  const source = (name: string): Record<string, SecretReference> | undefined => spec[name] as Record<string, SecretReference> | undefined;
  const azure = spec.azureFile as { secretName?: string; secretNamespace?: string } | undefined;
  const keysOf = (references: readonly (SecretReference | undefined)[], defaultNamespace: string): string[] =>
    references.flatMap((reference) => (reference?.name ? [nodeReferenceKey('secret', reference.namespace || defaultNamespace, reference.name)] : []));
  return [
    ...(azure?.secretName ? [nodeReferenceKey('secret', azure.secretNamespace || claimNamespace, azure.secretName)] : []),
    ...keysOf(
      SOURCES_BY_CLAIM.map((name) => source(name)?.secretRef),
      claimNamespace,
    ),
    ...keysOf([...SOURCES_BY_NAMESPACE.map((name) => source(name)?.secretRef), ...NODE_SECRETS.map((name) => source('csi')?.[name])], ''),
  ];
}
