import type { Container, PodSpec, Volume } from '../../apis/facts/types/core-v1.ts';
import { generateName } from '../../registry/metadata.ts';

const VOLUME_PREFIX = 'kube-api-access-';
/** Where clients inside a pod look for their token. */
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** An hour and a bit: tokens of this lifetime are extended for clients that do not read them anew (pkg/serviceaccount WarnOnlyBoundTokenExpirationSeconds). */
const EXPIRATION_SECONDS = 3_607;
const FILE_MODE = 0o644;

/** A volume with the account's token, the cluster's authority and the namespace, in every container that has nothing mounted in its place. */
export function mountToken(spec: PodSpec): void {
  const present = spec.volumes?.find(({ name }) => name.startsWith(VOLUME_PREFIX))?.name;
  const volume = present ?? generateName(VOLUME_PREFIX);
  let isNeeded = false;
  for (const containers of [spec.initContainers, spec.containers]) {
    for (const container of containers ?? []) if (mountIn(container, volume)) isNeeded = true;
  }
  if (present === undefined && isNeeded) (spec.volumes ??= []).push(tokenVolume(volume));
}

function mountIn(container: Container, volume: string): boolean {
  if (container.volumeMounts?.some(({ mountPath }) => mountPath === MOUNT_PATH)) return false;
  (container.volumeMounts ??= []).push({ name: volume, readOnly: true, mountPath: MOUNT_PATH });
  return true;
}

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: EXPIRATION_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: FILE_MODE,
  },
});
