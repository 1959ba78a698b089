import type { Client } from '../client/client.ts';
import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import type { ApiObject } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { NODES_GROUP, type User } from '../api/user.ts';
import { followChanges } from './follow-changes.ts';
import { NodeGraph } from './node-graph.ts';
import type { PersistentVolume, Pod, ReachableKind } from './node-references.ts';
import type { PolicyRule } from './rbac-objects.ts';
import { queryOf } from './rbac.ts';
import { type RuleSet, allowsPath, allowsResource, compileRuleSet } from './rule-set.ts';

/** What nodes may do, each with what its own pods need (plugin/pkg/auth/authorizer/node). */
export interface NodeAuthorizer extends Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision;
  /** Resolves once all that was stored is known; until then nodes are refused. */
  readonly synced: Promise<void>;
}

export interface NodeAuthorizerOptions {
  client: Client;
  isEnabled(gate: string): boolean;
  /** Told how long each change of the graph took. */
  observeGraph?(operation: string, durationMs: number): void;
}

const ALLOW: Decision = { decision: 'allow', reason: '' };
const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };
const NO_RULES: UserRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };
const UNKNOWN_RULES: UserRules = { ...NO_RULES, isIncomplete: true, evaluationError: 'node authorizer does not support user rule resolution' };
const refuse = (reason: string): Decision => ({ decision: 'noOpinion', reason });

export function createNodeAuthorizer({ client, isEnabled, observeGraph }: NodeAuthorizerOptions): NodeAuthorizer {
  const graph = new NodeGraph();
  const hasCertificateRequests = isEnabled('PodCertificateRequest');
  const features: NodeFeatures = {
    hasCertificateRequests,
    readsAccounts: hasCertificateRequests || isEnabled('KubeletServiceAccountTokenForCredentialProviders'),
  };
  const synced = followGraph(graph, client, hasCertificateRequests, timedBy(observeGraph));
  const uniform = compileRuleSet(uniformRules(isEnabled('ClusterTrustBundle')));
  return {
    authorize: (attributes) => decide(graph, uniform, features, attributes),
    rulesFor: (user) => (isNode(user) ? UNKNOWN_RULES : NO_RULES),
    synced,
  };
}

interface NamesNode extends ApiObject {
  spec?: { nodeName?: string };
}

type Timed = (what: string, isAdded: boolean, change: () => void) => void;

const timedBy =
  (observe: NodeAuthorizerOptions['observeGraph']): Timed =>
  (what, isAdded, change) => {
    const startMs = performance.now();
    change();
    observe?.(`${isAdded ? 'Add' : 'Delete'}${what}`, performance.now() - startMs);
  };

function followGraph(graph: NodeGraph, client: Client, hasCertificateRequests: boolean, timed: Timed): Promise<void> {
  const followOwned = (kind: ReachableKind, what: string, group: string, plural: string): Promise<void> =>
    followChanges<NamesNode>(client.resource<NamesNode>(group, plural).informer, (object, old) =>
      timed(what, object !== undefined, () => graph.setOwned(kind, (object ?? old)!, object?.spec?.nodeName ?? '')),
    );
  return Promise.all([
    followChanges<Pod>(client.resource<Pod>('', 'pods').informer, (pod, old) => {
      if (pod && old && isSameForNode(pod, old)) return;
      const { namespace = '', name = '' } = (pod ?? old)!.metadata;
      timed('Pod', pod !== undefined, () => graph.setPod(namespace, name, pod));
    }),
    followChanges<PersistentVolume>(client.resource<PersistentVolume>('', 'persistentvolumes').informer, (volume, old) =>
      timed('PV', volume !== undefined, () => graph.setVolume((volume ?? old)!.metadata.name ?? '', volume)),
    ),
    followOwned('volumeattachment', 'VolumeAttachment', 'storage.k8s.io', 'volumeattachments'),
    followOwned('resourceslice', 'ResourceSlice', 'resource.k8s.io', 'resourceslices'),
    ...(hasCertificateRequests ? [followOwned('podcertificaterequest', 'PodCertificateRequest', 'certificates.k8s.io', 'podcertificaterequests')] : []),
  ]).then(() => undefined);
}

/** Most changes of a pod are of its status: what it refers to is set when it is bound, but for ephemeral containers and claims that are made later. */
const isSameForNode = (pod: Pod, old: Pod): boolean =>
  pod.metadata.uid === old.metadata.uid &&
  pod.spec?.nodeName === old.spec?.nodeName &&
  (pod.spec?.ephemeralContainers?.length ?? 0) === (old.spec?.ephemeralContainers?.length ?? 0) &&
  equalJson(pod.status?.resourceClaimStatuses, old.status?.resourceClaimStatuses) &&
  equalJson(pod.status?.extendedResourceClaimStatus, old.status?.extendedResourceClaimStatus);

const NODE_PREFIX = 'system:node:';
const isNode = ({ name, groups }: User): boolean => name.startsWith(NODE_PREFIX) && groups.includes(NODES_GROUP);

function decide(graph: NodeGraph, uniform: RuleSet, features: NodeFeatures, attributes: AuthorizationAttributes): Decision {
  const { user } = attributes;
  if (!isNode(user)) return NO_OPINION;
  const node = user.name.slice(NODE_PREFIX.length);
  if (node === '') return refuse(`unknown node for user "${user.name}"`);
  if (!attributes.isResourceRequest) return allowsPath(uniform, attributes.verb, attributes.path) ? ALLOW : NO_OPINION;
  const divided = DIVIDED.get(`${attributes.resource}.${attributes.apiGroup}`);
  if (divided) return divided({ graph, node, attributes, ...features });
  return allowsResource(uniform, queryOf(attributes)) ? ALLOW : NO_OPINION;
}

interface NodeFeatures {
  hasCertificateRequests: boolean;
  /** Whether a kubelet may get the service accounts of its pods. */
  readsAccounts: boolean;
}

interface Question extends NodeFeatures {
  graph: NodeGraph;
  node: string;
  attributes: AuthorizationAttributes;
}

type Answer = (question: Question) => Decision;

/** Resources of which a node gets only what is its own. */
const DIVIDED: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['secrets.', (question) => readRelated('secret', question)],
  ['configmaps.', (question) => readRelated('configmap', question)],
  [
    'persistentvolumeclaims.',
    (question) =>
      question.attributes.subresource === 'status' ? updateStatus('persistentvolumeclaim', question) : getRelated('persistentvolumeclaim', question),
  ],
  ['persistentvolumes.', (question) => getRelated('persistentvolume', question)],
  ['resourceclaims.resource.k8s.io', (question) => getRelated('resourceclaim', question)],
  ['volumeattachments.storage.k8s.io', (question) => getRelated('volumeattachment', question)],
  ['serviceaccounts.', useServiceAccount],
  ['leases.coordination.k8s.io', useLease],
  ['csinodes.storage.k8s.io', useCsiNode],
  ['resourceslices.resource.k8s.io', useResourceSlice],
  ['nodes.', useNode],
  ['pods.', usePod],
  ['podcertificaterequests.certificates.k8s.io', useCertificateRequest],
]);

function related(kind: ReachableKind, { graph, node, attributes: { namespace, name } }: Question): Decision {
  if (name === '') return refuse('No Object name found');
  return graph.isRelated(node, kind, namespace, name) ? ALLOW : refuse(`no relationship found between node '${node}' and this object`);
}

function readRelated(kind: ReachableKind, question: Question): Decision {
  const { verb, subresource, namespace } = question.attributes;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return refuse('can only read resources of this type');
  if (subresource !== '') return refuse('cannot read subresource');
  if (namespace === '') return refuse('can only read namespaced object of this type');
  return related(kind, question);
}

function getRelated(kind: ReachableKind, question: Question): Decision {
  const { verb, subresource } = question.attributes;
  if (verb !== 'get') return refuse('can only get individual resources of this type');
  if (subresource !== '') return refuse('cannot get subresource');
  return related(kind, question);
}

function updateStatus(kind: ReachableKind, question: Question): Decision {
  const { verb } = question.attributes;
  return verb === 'update' || verb === 'patch' ? related(kind, question) : refuse('can only get/update/patch this type');
}

/** Reads an account of its pods, or makes tokens for it. */
function useServiceAccount(question: Question): Decision {
  const { verb, name, subresource } = question.attributes;
  if (verb === 'get' && subresource === '')
    return question.readsAccounts ? readRelated('serviceaccount', question) : refuse('not allowed to get service accounts');
  if (verb !== 'create' || name === '') return refuse('can only create tokens for individual service accounts');
  if (subresource !== 'token') return refuse('can only create token subresource of serviceaccount');
  return related('serviceaccount', question);
}

const OWN_VERBS = new Set(['get', 'create', 'update', 'patch', 'delete']);

/** The name of what is created is not known yet: the admission plug-in NodeRestriction sees to that, here and below. */
function useLease({ node, attributes: { verb, namespace, name } }: Question): Decision {
  if (!OWN_VERBS.has(verb)) return refuse('can only get, create, update, patch, or delete a node lease');
  if (namespace !== 'kube-node-lease') return refuse('can only access leases in the "kube-node-lease" system namespace');
  if (verb !== 'create' && name !== node) return refuse('can only access node lease with the same name as the requesting node');
  return ALLOW;
}

function useCsiNode({ node, attributes: { verb, subresource, name } }: Question): Decision {
  if (!OWN_VERBS.has(verb)) return refuse('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return refuse('cannot authorize CSINode subresources');
  if (verb !== 'create' && name !== node) return refuse('can only access CSINode with the same name as the requesting node');
  return ALLOW;
}

const selectsNode = ({ node, attributes }: Question): boolean =>
  attributes.fieldSelector?.requirements.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node) === true;

function useResourceSlice(question: Question): Decision {
  const { verb, subresource } = question.attributes;
  if (subresource !== '') return refuse('cannot authorize ResourceSlice subresources');
  switch (verb) {
    case 'create':
      return ALLOW;
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related('resourceslice', question);
    case 'watch':
    case 'list':
    case 'deletecollection':
      return selectsNode(question) ? ALLOW : refuse('can only list/watch/deletecollection resourceslices with nodeName field selector');
    default:
      return refuse('only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection');
  }
}

function useCertificateRequest(question: Question): Decision {
  const { verb, subresource } = question.attributes;
  if (!question.hasCertificateRequests) return NO_OPINION;
  if (subresource !== '') return refuse('nodes may not access the status subresource of PodCertificateRequests');
  if (verb === 'create') return ALLOW;
  if (verb === 'get') return related('podcertificaterequest', question);
  if (verb !== 'list' && verb !== 'watch') return refuse(`nodes may not ${verb} podcertificaterequests`);
  return selectsNode(question) ? ALLOW : refuse('can only list/watch podcertificaterequests with nodeName field selector');
}

/** By name, not by the graph: a kubelet asks for its node before there is one. */
function useNode({ node, attributes: { verb, subresource, name } }: Question): Decision {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOW : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  if (verb === 'create' || verb === 'update' || verb === 'patch') return ALLOW;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return NO_OPINION;
  if (name === node) return ALLOW;
  return refuse(
    name === '' ? `node '${node}' cannot read all nodes, only its own Node object` : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}

function usePod(question: Question): Decision {
  const { verb, subresource, name } = question.attributes;
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOW : NO_OPINION;
  if (subresource === 'eviction') return verb === 'create' ? ALLOW : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  if (verb === 'create' || verb === 'delete') return ALLOW;
  if (verb === 'get') return getRelated('pod', question);
  if (verb !== 'list' && verb !== 'watch') return NO_OPINION;
  if (selectsNode(question)) return ALLOW;
  return name === '' ? refuse('can only list/watch pods with spec.nodeName field selector') : related('pod', question);
}

/** What every node may do alike: of the rules of the role system:node, those that are not divided above (bootstrappolicy.NodeRules). */
function uniformRules(hasTrustBundles: boolean): PolicyRule[] {
  const read = ['get', 'list', 'watch'];
  return [
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
    { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews', 'localsubjectaccessreviews'] },
    { verbs: read, apiGroups: [''], resources: ['services'] },
    { verbs: ['create', 'update', 'patch'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    { verbs: ['get'], apiGroups: [''], resources: ['endpoints'] },
    { verbs: ['create', ...read], apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'] },
    { verbs: read, apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
    { verbs: read, apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
    ...(hasTrustBundles ? [{ verbs: read, apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'] }] : []),
  ];
}
