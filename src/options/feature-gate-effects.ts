import { apiFeatures } from '../apis/features.ts';
import { type GateGroup, gateGroups } from './feature-gate-facts.ts';

/**
 * What moving a gate does here: it is `honoured` either way as upstream honours it; `partly` so; `inert`, though kube-apiserver asks for it; or
 * `elsewhere`: no API server asks for it, neither upstream's nor this one.
 */
export interface GateEffect {
  readonly is: 'locked' | 'honoured' | 'partly' | 'inert' | 'elsewhere';
  /** Of the last three: why, in a few words. */
  readonly reason?: string;
}

/** Those that are asked for outside of the kinds (`src/apis/features.ts` has the others). */
const HONOURED = new Set([
  'AllAlpha',
  'AllBeta',
  'AllowInsecureKubeletCertificateSigningRequests',
  'AllowParsingUserUIDFromCertAuth',
  'APIResponseCompression',
  'APIServerIdentity',
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'ComponentFlagz',
  'ComponentStatusz',
  'ConstrainedImpersonation',
  'DRADeviceTaintRules',
  'DRAResourceClaimGranularStatusAuthorization',
  'DRAResourcePoolStatus',
  'ExtendWebSocketsToKubelet',
  'KubeletServiceAccountTokenForCredentialProviders',
  'LoggingAlphaOptions',
  'MutatingAdmissionPolicy',
  'OpenAPIEnums',
  'PodLogsQuerySplitStreams',
  'PodTopologyLabelsAdmission',
  'PortForwardWebsockets',
  'RemoteRequestHeaderUID',
  'ServiceAccountNodeAudienceRestriction',
  'SizeBasedListCostEstimate',
  'StorageVersionHash',
  'StructuredAuthenticationConfigurationEgressSelector',
  'StructuredAuthenticationConfigurationJWKSMetrics',
  'TokenRequestServiceAccountUIDValidation',
  'TranslateStreamCloseWebsocketRequests',
  'UnauthenticatedHTTP2DOSMitigation',
  'WatchCacheInitializationPostStartHook',
  'WatchList',
]);

const PARTLY: Readonly<Record<string, string>> = {
  CBORServingAndStorage: 'CBOR is served, and read where custom resources are stored in it; they are written as JSON',
  ManifestBasedAdmissionControlConfig: 'its folder is named in its configuration; manifests are not read here',
  StorageVersionAPI: 'the role of its controller is; storage versions are not recorded here',
  UnknownVersionInteroperabilityProxy: 'the address on the lease is; requests are not passed on to peers',
  WorkloadWithJob: 'the rule of the job controller is; jobs are not checked against their workloads',
};

const INERT: Readonly<Record<string, string>> = {
  AllowUnsafeMalformedObjectDeletion: 'objects that cannot be read are not deleted here',
  APIServingWithRoutine: 'requests have no threads here',
  ConcurrentWatchObjectDecode: 'watches do not decode here',
  DeclarativeValidationBeta: 'each rule is written once here',
  DeclarativeValidationTakeover: 'each rule is written once here',
  DetectCacheInconsistency: 'the cache is not compared with the store here',
  KMSv1: 'version 1 of KMS is refused here',
  ListFromCacheSnapshot: 'lists at a version come from the cache either way',
  NativeHistograms: 'metrics are text here, with classic histograms',
  ShardedListAndWatch: 'lists and watches have no shards here',
  StorageNamespaceIndex: 'the cache has its index either way',
};

const ELSEWHERE = 'no API server asks for it';

export function effectOf(name: string, { isLocked }: Pick<GateGroup, 'isLocked'>): GateEffect {
  if (isLocked) return { is: 'locked' };
  if (Object.hasOwn(PARTLY, name)) return { is: 'partly', reason: PARTLY[name]! };
  if (HONOURED.has(name) || apiFeatures.has(name)) return { is: 'honoured' };
  return Object.hasOwn(INERT, name) ? { is: 'inert', reason: INERT[name]! } : { is: 'elsewhere', reason: ELSEWHERE };
}

/** The line at start for a gate that was moved by name; undefined where it is honoured. */
export function gateWarning(name: string, value: boolean, group: GateGroup): string | undefined {
  const { is, reason } = effectOf(name, group);
  if (is === 'honoured' || is === 'locked' || value === group.isOnByDefault) return undefined;
  return `--feature-gates: ${name}=${value} ${is === 'partly' ? 'is honoured in part' : 'changes nothing here'}: ${reason}`;
}

/** docs/feature-gates.md */
export const gatesDocument = (): string => `# Feature gates

\`--feature-gates\` knows the gates of kube-apiserver v1.36, with their stages, defaults, locks and dependencies, and answers unknown and locked
ones in its words. Each server of a process has its own. What moving a gate from its default does here:

- **honoured**: what it does upstream: kinds, fields that are dropped from what clients send unless the object has them already, rules, endpoints.
- **locked**: it cannot be moved; the server does not start.
- **partly**, **inert**: one warning line at start says what is left undone.
- **elsewhere**: gates of kubelets, schedulers, controllers and client libraries, which upstream's server knows too; one warning line.

\`AllAlpha\` and \`AllBeta\` move all of their stage; the gates among them that change nothing are named in one line.
This page is made from \`src/options/feature-gate-effects.ts\`; a test keeps it so (\`npx vitest run src/options/feature-gate-effects.test.ts -u\`).

| gate | stage | default | here |
| --- | --- | --- | --- |
${gateGroups
  .flatMap((group) => group.names.map((name) => ({ name, group })))
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, group }) => `| ${name} | ${group.stage} | ${group.isOnByDefault ? 'on' : 'off'} | ${effectText(effectOf(name, group))} |`)
  .join('\n')}
`;

const effectText = ({ is, reason }: GateEffect): string => (reason === undefined || is === 'elsewhere' ? is : `${is}: ${reason}`);
