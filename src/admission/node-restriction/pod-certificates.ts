import type { PodCertificateRequest } from '../../apis/facts/types/certificates-v1beta1.ts';
import type { Pod } from '../../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { unknownError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { NodeCheck } from './node-restriction.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A node asks for certificates of the pods that run on it, in the name of their accounts (KEP-4317). */
export function certificateChecks({ client, isEnabled }: PluginEnvironment): NodeCheck {
  const hasRequests = isEnabled('PodCertificateRequest');
  const nodes = client.resource('', 'nodes').informer;
  const pods = client.resource<Pod>('', 'pods').informer;
  const accounts = client.resource('', 'serviceaccounts').informer;

  function checkNode(node: string, attributes: AdmissionAttributes, { nodeName, nodeUID }: PodCertificateRequest['spec'], podPath: string): void {
    if (nodeName !== node) throw refusal(attributes, `PodCertificateRequest.Spec.NodeName=${quote(nodeName)}, which is not the requesting node ${quote(node)}`);
    const uid = present(nodes.get('', nodeName), 'node', nodeName, nodeName).metadata.uid ?? '';
    if (uid === nodeUID) return;
    throw unknownError(`PodCertificateRequest for pod ${quote(podPath)} names node UID ${quote(nodeUID)}, inconsistent with the running node (${quote(uid)})`);
  }

  function checkPod(attributes: AdmissionAttributes, { podName, podUID, nodeName, serviceAccountName }: PodCertificateRequest['spec'], podPath: string): void {
    const { metadata, spec } = present(pods.get(attributes.namespace, podName), 'pod', podPath, podName);
    const uid = metadata.uid ?? '';
    if (podUID !== uid)
      throw unknownError(`PodCertificateRequest for pod ${quote(podPath)} contains pod UID (${quote(podUID)}) which differs from running pod ${quote(uid)}`);
    if (spec.nodeName !== nodeName)
      throw refusal(attributes, `pod ${quote(podPath)} is not running on node ${quote(nodeName)} named in the PodCertificateRequest`);
    if (metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) throw refusal(attributes, `pod ${quote(podPath)} is a mirror pod`);
    const account = spec.serviceAccountName ?? '';
    if (serviceAccountName === account) return;
    const differs = `contains serviceAccountName (${quote(serviceAccountName)}) that differs from running pod (${quote(account)})`;
    throw refusal(attributes, `PodCertificateRequest for pod ${quote(podPath)} ${differs}`);
  }

  function checkAccount(namespace: string, { serviceAccountName: name, serviceAccountUID }: PodCertificateRequest['spec'], podPath: string): void {
    const uid = present(accounts.get(namespace, name), 'service account', `${namespace}/${name}`, name, 'serviceaccount').metadata.uid ?? '';
    if (uid === serviceAccountUID) return;
    const differs = `names service account UID ${quote(serviceAccountUID)}, which differs from the running service account (${quote(uid)})`;
    throw unknownError(`PodCertificateRequest for pod ${quote(podPath)} ${differs}`);
  }

  return (node, attributes) => {
    const { operation, subresource, namespace, object } = attributes;
    if (!hasRequests) throw refusal(attributes, 'PodCertificateRequest feature gate is disabled');
    if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`);
    if (subresource !== '') throw refusal(attributes, `unexpected subresource ${subresource}`);
    const { spec } = object as PodCertificateRequest;
    const podPath = `${namespace}/${spec.podName}`;
    checkNode(node, attributes, spec, podPath);
    checkPod(attributes, spec, podPath);
    checkAccount(namespace, spec, podPath);
  };
}

/** `resource` as a lister names it. */
function present<T>(found: T | undefined, what: string, path: string, name: string, resource = what): T {
  if (found !== undefined) return found;
  throw unknownError(`while retrieving ${what} ${quote(path)} named in the PodCertificateRequest: ${resource} ${quote(name)} not found`);
}
