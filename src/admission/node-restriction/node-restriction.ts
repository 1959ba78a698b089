import type { CertificateSigningRequest } from '../../apis/facts/types/certificates-v1.ts';
import type { PersistentVolumeClaim } from '../../apis/facts/types/core-v1.ts';
import type { ResourceSlice } from '../../apis/facts/types/resource-v1.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { qualifiedResource } from '../../api/api-object.ts';
import { quote } from '../../util/go-quote.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { NODES_GROUP, type User } from '../../api/user.ts';
import { requestSubject } from '../certificate-subject-restriction.ts';
import { type AdmissionPlugin, CREATE_UPDATE_OR_DELETE, type PluginEnvironment } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { checkNode } from './own-node.ts';
import { podChecks } from './own-pods.ts';
import { certificateChecks } from './pod-certificates.ts';
import { tokenChecks } from './pod-tokens.ts';

/** Throws where a node may not do what it is about to do. */
export type NodeCheck = (node: string, attributes: AdmissionAttributes) => Promise<void> | void;

const NODE_PREFIX = 'system:node:';
const LEASES_NAMESPACE = 'kube-node-lease';
const KUBELET_SIGNERS = new Set(['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet']);
const COMMON_NAME = '2.5.4.3';

/** A node changes only itself and what runs on it (plugin/pkg/admission/noderestriction). */
export function nodeRestriction(environment: PluginEnvironment): AdmissionPlugin {
  const checks = new Map<string, NodeCheck>([
    ['pods', podChecks(environment)],
    ['nodes', checkNode],
    ['persistentvolumeclaims', checkVolumeClaim],
    ['serviceaccounts', tokenChecks(environment)],
    ['podcertificaterequests.certificates.k8s.io', certificateChecks(environment)],
    ['leases.coordination.k8s.io', checkLease],
    ['csinodes.storage.k8s.io', checkCsiNode],
    ['resourceslices.resource.k8s.io', checkResourceSlice],
  ]);
  if (!environment.isEnabled('AllowInsecureKubeletCertificateSigningRequests'))
    checks.set('certificatesigningrequests.certificates.k8s.io', checkSigningRequest);

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!isNode(attributes.user)) return;
    const node = attributes.user.name.slice(NODE_PREFIX.length);
    if (node === '') throw refusal(attributes, `could not determine node from user ${quote(attributes.user.name)}`);
    return checks.get(qualifiedResource(attributes))?.(node, attributes);
  }
  return { name: 'NodeRestriction', operations: CREATE_UPDATE_OR_DELETE, mutate };
}

const isNode = ({ name, groups }: User): boolean => name.startsWith(NODE_PREFIX) && groups.includes(NODES_GROUP);

/** What a kubelet reports of a volume that it has made larger. */
const REPORTED: readonly (keyof PersistentVolumeClaim['status'])[] = ['capacity', 'conditions', 'allocatedResourceStatuses', 'allocatedResources'];

function checkVolumeClaim(node: string, attributes: AdmissionAttributes): void {
  const { subresource, operation, object, oldObject } = attributes;
  if (subresource !== 'status') throw refusal(attributes, 'may only update PVC status');
  if (operation !== 'UPDATE') throw refusal(attributes, `unexpected operation ${quote(operation)}`);
  if (equalJson(withoutReports(object as PersistentVolumeClaim), withoutReports(oldObject as PersistentVolumeClaim))) return;
  throw refusal(attributes, `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`);
}

function withoutReports({ metadata, status, ...rest }: PersistentVolumeClaim): object {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const others = Object.entries(status).filter(([name]) => !(REPORTED as readonly string[]).includes(name));
  return { ...rest, metadata: kept, status: Object.fromEntries(others) };
}

const nameIn = ({ operation, object, name }: AdmissionAttributes): string => (operation === 'CREATE' ? (object!.metadata.name ?? '') : name);

function checkLease(node: string, attributes: AdmissionAttributes): void {
  if (attributes.namespace !== LEASES_NAMESPACE) throw refusal(attributes, `can only access leases in the ${quote(LEASES_NAMESPACE)} system namespace`);
  if (nameIn(attributes) !== node) throw refusal(attributes, 'can only access node lease with the same name as the requesting node');
}

function checkCsiNode(node: string, attributes: AdmissionAttributes): void {
  if (nameIn(attributes) !== node) throw refusal(attributes, 'can only access CSINode with the same name as the requesting node');
}

function checkResourceSlice(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, oldObject } = attributes;
  if (operation === 'UPDATE') return;
  const slice = (operation === 'CREATE' ? object : oldObject) as ResourceSlice | undefined;
  if (slice?.spec.nodeName === node) return;
  throw refusal(attributes, `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`);
}

function checkSigningRequest(node: string, attributes: AdmissionAttributes): void {
  if (attributes.operation !== 'CREATE') return;
  const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
  if (!KUBELET_SIGNERS.has(signerName)) return;
  const names = requestSubject(request, COMMON_NAME, (why) => refusal(attributes, `unable to parse csr: ${why}`));
  if (names.at(-1) !== NODE_PREFIX + node) throw refusal(attributes, `can only create a node CSR with CN=${NODE_PREFIX}${node}`);
}
