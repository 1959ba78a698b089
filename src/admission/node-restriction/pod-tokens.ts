import type { TokenRequest } from '../../apis/facts/types/authentication-v1.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../apis/facts/types/core-v1.ts';
import type { CSIDriver } from '../../apis/facts/types/storage-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { aggregateMessage } from '../../api/aggregate-message.ts';
import { resourceAttributes } from '../../api/authorization.ts';
import { notFound } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { NodeCheck } from './node-restriction.ts';

/** A node gets tokens only for the pods that run on it, and only for those whom the pods are to be known to (KEP-4935). */
export function tokenChecks({ client, authorizer, isEnabled }: PluginEnvironment): NodeCheck {
  const pods = client.resource<Pod>('', 'pods').informer;
  const isAudienceRestricted = isEnabled('ServiceAccountNodeAudienceRestriction');

  function boundPod(node: string, attributes: AdmissionAttributes): Pod {
    const bound = (attributes.object as unknown as TokenRequest).spec.boundObjectRef;
    if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) throw refusal(attributes, 'node requested token not bound to a pod');
    if (!bound.uid) throw refusal(attributes, 'node requested token with a pod binding without a uid');
    const pod = pods.get(attributes.namespace, bound.name);
    if (!pod) throw notFound({ group: '', resource: 'pods' }, bound.name);
    if (bound.uid !== pod.metadata.uid) {
      const why = 'does not match the UID in record. The object might have been deleted and then recreated';
      throw refusal(attributes, `the UID in the bound object reference (${bound.uid}) ${why}`);
    }
    if (pod.spec.nodeName !== node) throw refusal(attributes, 'node requested token bound to a pod scheduled on a different node');
    return pod;
  }

  async function checkAudience(attributes: AdmissionAttributes, pod: Pod): Promise<void> {
    const [audience = '', ...more] = (attributes.object as unknown as TokenRequest).spec.audiences ?? [];
    if (more.length > 0) throw refusal(attributes, 'node may only request 0 or 1 audiences');
    const { isFound, problems } = findAudience(client, pod, audience);
    if (isFound) return;
    if (problems.length > 0) throw refusal(attributes, `error validating audience ${quote(audience)}: ${aggregateMessage(problems)}`);
    const { user, namespace, name } = attributes;
    const verb = 'request-serviceaccounts-token-audience';
    const asked = resourceAttributes({ user, verb, namespace, name, apiGroup: '', apiVersion: 'v1', resource: audience });
    const { decision, error } = await authorizer.authorize(asked);
    if (decision === 'allow') return;
    const missing = `audience ${quote(audience)} not found in pod spec volume,`;
    if (error !== undefined) throw refusal(attributes, `${missing} error authorizing ${user.name} to request tokens for this audience: ${error}`);
    throw refusal(attributes, `${missing} ${user.name} is not authorized to request tokens for this audience`);
  }

  return (node, attributes) => {
    if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return;
    const pod = boundPod(node, attributes);
    if (isAudienceRestricted) return checkAudience(attributes, pod);
  };
}

/** Whether a volume of the pod has a token for the audience, its own or one that its driver asks for. */
function findAudience(client: PluginEnvironment['client'], pod: Pod, audience: string): { isFound: boolean; problems: string[] } {
  const problems: string[] = [];
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken && (serviceAccountToken.audience ?? '') === audience)) {
      return { isFound: true, problems };
    }
    const found = driverOf(client, pod, volume);
    if (found.problem !== undefined) problems.push(found.problem);
    if (!found.driver) continue;
    const driver = client.resource<CSIDriver>('storage.k8s.io', 'csidrivers').informer.get('', found.driver);
    if (!driver) problems.push(`csidriver.storage.k8s.io ${quote(found.driver)} not found`);
    else if (driver.spec.tokenRequests?.some((request) => request.audience === audience)) return { isFound: true, problems };
  }
  return { isFound: false, problems };
}

/** Volumes of the kinds that were built in before there were drivers have none here. */
function driverOf(client: PluginEnvironment['client'], pod: Pod, volume: Volume): { driver?: string; problem?: string } {
  if (volume.csi) return { driver: volume.csi.driver };
  const claimName = volume.ephemeral?.volumeClaimTemplate ? `${pod.metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
  if (claimName === undefined) return {};
  const claim = client.resource<PersistentVolumeClaim>('', 'persistentvolumeclaims').informer.get(pod.metadata.namespace!, claimName);
  if (!claim) return { problem: `persistentvolumeclaim ${quote(claimName)} not found` };
  const volumeName = claim.spec.volumeName ?? '';
  const bound = volumeName === '' ? undefined : client.resource<PersistentVolume>('', 'persistentvolumes').informer.get('', volumeName);
  if (!bound) return { problem: `persistentvolume ${quote(volumeName)} not found` };
  return bound.spec.csi ? { driver: bound.spec.csi.driver } : {};
}
