import { apiFeatures } from '../apis/features.ts';
import { type GateGroup, gateGroups } from './feature-gate-facts.ts';
import { type GateState, newestGates } from './feature-gate-table.ts';

/**
 * What moving a gate does here: it is `honoured` either way as upstream honours it; `inert`, though kube-apiserver asks for it; or
 * `elsewhere`: no API server asks for it, neither upstream's nor this one.
 */
export interface GateEffect {
  readonly is: 'locked' | 'honoured' | 'inert' | 'elsewhere';
  /** Of the last three: why, in a few words. */
  readonly reason?: string;
}

/** Those that are asked for outside of the kinds (`src/apis/features.ts` has the others). */
const HONOURED = new Set([
  'AllAlpha',
  'AllBeta',
  'AllowInsecureKubeletCertificateSigningRequests',
  'AllowParsingUserUIDFromCertAuth',
  'AllowUnsafeMalformedObjectDeletion',
  'APIResponseCompression',
  'APIServerIdentity',
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'CBORServingAndStorage',
  'ComponentFlagz',
  'ComponentStatusz',
  'ConstrainedImpersonation',
  'DetectCacheInconsistency',
  'DRADeviceTaintRules',
  'DRAResourceClaimGranularStatusAuthorization',
  'DRAResourcePoolStatus',
  'ExtendWebSocketsToKubelet',
  'KMSv1',
  'KubeletServiceAccountTokenForCredentialProviders',
  'LoggingAlphaOptions',
  'MutatingAdmissionPolicy',
  'NativeHistograms',
  'OpenAPIEnums',
  'PodLogsQuerySplitStreams',
  'PodTopologyLabelsAdmission',
  'PortForwardWebsockets',
  'RemoteRequestHeaderUID',
  'ServiceAccountNodeAudienceRestriction',
  'ShardedListAndWatch',
  'SizeBasedListCostEstimate',
  'StorageVersionAPI',
  'StorageVersionHash',
  'StructuredAuthenticationConfigurationEgressSelector',
  'StructuredAuthenticationConfigurationJWKSMetrics',
  'TokenRequestServiceAccountUIDValidation',
  'TranslateStreamCloseWebsocketRequests',
  'UnauthenticatedHTTP2DOSMitigation',
  'UnknownVersionInteroperabilityProxy',
  'WatchCacheInitializationPostStartHook',
  'WatchList',
  'WorkloadWithJob',
]);

const INERT: Readonly<Record<string, string>> = {
  APIServingWithRoutine: 'requests have no threads here',
  ConcurrentWatchObjectDecode: 'watches do not decode here',
  DeclarativeValidationBeta: 'each rule is written once here',
  DeclarativeValidationTakeover: 'each rule is written once here',
  ListFromCacheSnapshot: 'lists at a version come from the cache either way',
  StorageNamespaceIndex: 'the cache has its index either way',
};

const ELSEWHERE = 'no API server asks for it';
const FOR_GOOD = 'it cannot be moved in the newest version, whose code this is';

export function effectOf(name: string, { isLocked }: Pick<GateGroup, 'isLocked'>): GateEffect {
  if (isLocked) return { is: 'locked' };
  if (HONOURED.has(name) || apiFeatures.has(name)) return { is: 'honoured' };
  if (Object.hasOwn(INERT, name)) return { is: 'inert', reason: INERT[name]! };
  // A version is emulated in which it could be moved still.
  return newestGates().get(name)?.isLocked ? { is: 'inert', reason: FOR_GOOD } : { is: 'elsewhere', reason: ELSEWHERE };
}

/** The line at start for a gate that was moved by name; undefined where it is honoured. */
export function gateWarning(name: string, value: boolean, state: GateState): string | undefined {
  const { is, reason } = effectOf(name, state);
  if (is === 'honoured' || is === 'locked' || value === state.isOnByDefault) return undefined;
  return `--feature-gates: ${name}=${value} changes nothing here: ${reason}`;
}

/** docs/feature-gates.md */
export const gatesDocument = (): string => `# Feature gates

\`--feature-gates\` knows the gates of kube-apiserver v1.36, with their stages, defaults, locks and dependencies, and answers unknown and locked
ones in its words. Each server of a process has its own. What moving a gate from its default does here:

- **honoured**: what it does upstream: kinds, fields that are dropped from what clients send unless the object has them already, rules, endpoints.
- **locked**: it cannot be moved; the server does not start.
- **inert**: one warning line at start says why it changes nothing.
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
