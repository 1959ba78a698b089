import { containersOf } from '../../apis/core/pod/containers-of.ts';
import type { Pod, Volume } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { refusal } from '../refusal.ts';

/** A pod that shows what a kubelet runs from a file has nothing of the API's: neither an account nor secrets. */
export function checkMirrorPod(attributes: AdmissionAttributes, { spec }: Pod): void {
  if (spec.serviceAccountName) throw refusal(attributes, 'a mirror pod may not reference service accounts');
  if (usesSecrets(spec)) throw refusal(attributes, 'a mirror pod may not reference secrets');
  const hasToken = spec.volumes?.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken));
  if (hasToken) throw refusal(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
}

/** pkg/api/pod VisitPodSecretNames. */
export function usesSecrets(spec: Pod['spec']): boolean {
  if (spec.imagePullSecrets?.some(({ name }) => name)) return true;
  for (const { env, envFrom } of containersOf(spec)) {
    if (envFrom?.some(({ secretRef }) => secretRef?.name) || env?.some(({ valueFrom }) => valueFrom?.secretKeyRef?.name)) return true;
  }
  return spec.volumes?.some((volume) => secretsOf(volume).some(Boolean)) ?? false;
}

const SOURCES_WITH_SECRET_REF = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'] as const;

function secretsOf(volume: Volume): (string | undefined)[] {
  return [
    volume.azureFile?.secretName,
    ...SOURCES_WITH_SECRET_REF.map((source) => volume[source]?.secretRef?.name),
    ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
    volume.secret?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
  ];
}
