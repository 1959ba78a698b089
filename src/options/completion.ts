import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { resolveTlsFlags } from '../serving/tls-options.ts';
import { enabledPlugins } from '../admission/plugin-order.ts';
import { addressAt, type Cidr, hostBits, isLoopback, isUnspecified, parseCidr } from '../net/cidr.ts';
import { CommandError } from './command-error.ts';
import { type EffectiveVersion, resolveEffectiveVersion } from './effective-version.ts';
import { type FeatureGates, resolveFeatureGates } from './feature-gates.ts';
import type { FlagName, Options } from './flags/options.ts';
import { parseBool } from './flags/types.ts';
import type { ParsedFlags } from './flags/parser.ts';
import { type HistoryBounds, parseHistoryBounds } from './history.ts';
import { type Host, thisHost } from './host-address.ts';
import { validateOptions } from './validation.ts';
import { reportedVersion } from './version.ts';

type StorageBackend = 'embedded' | 'memory' | 'etcd3';

/** What completion works out from the flags. Where it has the name of an option, it takes that option's place. */
interface Completion {
  /** Never empty: the flag's, or an address of this machine, of which the loopback is the last choice. */
  readonly advertiseAddress: string;
  /** Where other machines reach this one: as above, but undefined for as long as the machine has no address but its loopback and the flag names none. */
  reachableAddress(this: void): string | undefined;
  readonly externalHostname: string;
  readonly storageBackend: StorageBackend;
  /** Absolute. */
  readonly dataDir: string;
  /** --workers: 0 where this process serves requests itself. */
  readonly workerCount: number;
  /** Folder of the embedded store's own files, in the data folder. */
  readonly storeDir: string;
  /** --history; undefined where none is kept. */
  readonly historyBounds: HistoryBounds | undefined;
  /** The certificate and key to serve with: the flags', or where a self-signed pair is made (see `isServingPairGenerated`). */
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly isServingPairGenerated: boolean;
  /** What --tls-min-version, --tls-cipher-suites and --tls-curve-preferences say, in Node's words. */
  readonly tls: SecureContextOptions;
  /** The authorizers in order; empty only where --authorization-config stands for them. */
  readonly authorizationMode: readonly string[];
  readonly anonymousAuth: boolean;
  /** The first one issues; never empty. */
  readonly serviceAccountIssuer: readonly string[];
  readonly apiAudiences: readonly string[];
  /** Empty only where --service-account-signing-endpoint stands for it. */
  readonly serviceAccountSigningKeyFile: string;
  readonly isSigningKeyGenerated: boolean;
  readonly serviceAccountKeyFile: readonly string[];
  /** In normal form; one range, or one of each family. */
  readonly serviceClusterIpRanges: readonly [primary: string, secondary?: string];
  /** The first address of the primary range: the kubernetes service's. */
  readonly apiServerServiceIp: string;
  /** Names of the enabled plug-ins, in the order in which they run. */
  readonly admissionPlugins: readonly string[];
  /** Keys as upstream completes them: `/v1` for the core group, `api/beta` and the like as they are. */
  readonly runtimeConfig: ReadonlyMap<string, boolean>;
  readonly featureGates: FeatureGates;
  /** What --emulated-version and --min-compatibility-version say. */
  readonly effectiveVersion: EffectiveVersion;
  /** `gitVersion` of /version. */
  readonly kubernetesVersion: string;
  /** The flags that the command line names. */
  readonly given: ReadonlySet<FlagName>;
  /** All flags as they were read, before anything was completed. */
  readonly flags: Options;
  /** One line each, to be shown once at start. */
  readonly warnings: readonly string[];
}

type Values = Omit<Options, keyof Completion> & Completion;
declare const completed: unique symbol;
/** Options that hold together and are valid; only `complete` makes them. */
export type CompletedOptions = Readonly<Values> & { readonly [completed]: true };

/** Where a draft still lacks what could not be read; `validateOptions` sees it so. */
export interface Draft extends Values {
  /** As `--service-cluster-ip-range` was read. */
  readonly ranges: readonly Cidr[];
}

const DEFAULT_SERVICE_RANGE = '10.0.0.0/24';
const DEFAULT_ISSUER = 'https://kubernetes.default.svc';

/** Fills in what the flags leave open, then checks everything. Throws a CommandError that lists all that is wrong. */
export function complete(parsed: ParsedFlags, host: Host = thisHost): CompletedOptions {
  const errors: string[] = [];
  const { ranges, ...values } = draft(parsed, host, errors);
  errors.push(...validateOptions({ ...values, ranges }));
  if (errors.length > 0) throw new CommandError(...new Set(errors));
  return values as Values as CompletedOptions;
}

function draft({ options, given, warnings }: ParsedFlags, host: Host, errors: string[]): Draft {
  const storage = completeStorage(options);
  const reachableAddress = addressFinder(options, host);
  const advertiseAddress = reachableAddress() ?? (options.bindAddress.includes(':') ? '::1' : '127.0.0.1');
  const effectiveVersion = resolveEffectiveVersion(options, errors);
  const gates = resolveFeatureGates(options.featureGates, effectiveVersion);
  const tls = resolveTlsFlags({ minVersion: options.tlsMinVersion, cipherSuites: options.tlsCipherSuites, curvePreferences: options.tlsCurvePreferences });
  errors.push(...gates.errors, ...tls.errors);
  const ranges = completeServiceRanges(options.serviceClusterIpRange, errors);
  const authorizationMode = options.authorizationMode.length === 0 && options.authorizationConfig === '' ? ['AlwaysAllow'] : options.authorizationMode;
  const anonymousAuth = options.anonymousAuth && !authorizationMode.includes('AlwaysAllow');
  return {
    ...options,
    ...storage,
    historyBounds: completeHistory(options.history, errors),
    workerCount: options.workers === 'auto' ? availableParallelism() : Number(options.workers),
    ...completeServing(options, given, storage),
    ...completeServiceAccounts(options, storage),
    advertiseAddress,
    reachableAddress,
    externalHostname: options.externalHostname || advertiseAddress || host.hostname(),
    tls: tls.settings,
    authorizationMode,
    anonymousAuth,
    ranges,
    serviceClusterIpRanges: ranges.map(({ text }) => text) as [string, string?],
    apiServerServiceIp: addressAt(ranges[0]!, 1),
    admissionPlugins: completeAdmission(options),
    runtimeConfig: completeRuntimeConfig(options.runtimeConfig, errors),
    featureGates: gates.gates,
    effectiveVersion,
    kubernetesVersion: reportedVersion(options.version),
    given,
    flags: options,
    warnings: [...warnings, ...gates.warnings, ...tls.warnings, ...completionWarnings(options, given, { authorizationMode, ...storage })],
  };
}

function completeHistory(text: string, errors: string[]): HistoryBounds | undefined {
  try {
    return parseHistoryBounds(text);
  } catch (error) {
    errors.push(`--history: ${(error as Error).message}`);
    return undefined;
  }
}

/** Flags that let somebody in from outside. */
const WAYS_IN: readonly FlagName[] = [
  'client-ca-file',
  'token-auth-file',
  'basic-auth-file',
  'requestheader-client-ca-file',
  'authentication-config',
  'authentication-token-webhook-config-file',
  'oidc-issuer-url',
];

type StorageCompletion = Pick<Completion, 'storageBackend' | 'dataDir' | 'storeDir'>;

function completeStorage(options: Options): StorageCompletion {
  const dataDir = resolve(options.dataDir);
  const backend = options.storageBackend || (options.etcdServers.length > 0 ? 'etcd3' : 'embedded');
  // Any other word is refused by validation, which sees the flag's own value too.
  return { storageBackend: backend as StorageBackend, dataDir, storeDir: join(dataDir, 'store') };
}

/**
 * The flag's address, else the bind address, unless that is no address others can use, else one of this machine (apiserver/pkg/server/options,
 * DefaultAdvertiseAddress). Where upstream refuses to start on a machine without a network, we look again every time until it has an address; the first one
 * stays, and is of the family that was validated at start.
 */
function addressFinder({ advertiseAddress, bindAddress }: Options, host: Host): () => string | undefined {
  if (!isUnspecified(advertiseAddress)) return () => advertiseAddress;
  if (!isUnspecified(bindAddress) && !isLoopback(bindAddress)) return () => bindAddress;
  const [family, otherFamily] = bindAddress.includes(':') ? ([6, 4] as const) : ([4, 6] as const);
  let found = host.outsideAddress(family) ?? host.outsideAddress(otherFamily);
  return () => (found ??= host.outsideAddress(family));
}

/** Our own stores keep what they generate in the data folder; next to etcd, upstream's folder is the default. */
function completeServing(options: Options, given: ReadonlySet<FlagName>, { storageBackend, dataDir }: StorageCompletion) {
  if (options.tlsCertFile !== '' || options.tlsPrivateKeyFile !== '') {
    return { tlsCertFile: options.tlsCertFile, tlsPrivateKeyFile: options.tlsPrivateKeyFile, isServingPairGenerated: false };
  }
  const folder = given.has('cert-dir') || storageBackend === 'etcd3' ? resolve(options.certDir) : join(dataDir, 'certificates');
  return { tlsCertFile: join(folder, 'apiserver.crt'), tlsPrivateKeyFile: join(folder, 'apiserver.key'), isServingPairGenerated: true };
}

/** On etcd, where several servers must agree, issuer and keys must be given, as upstream demands; our own stores make and keep their key. */
function completeServiceAccounts(options: Options, { storageBackend, dataDir }: StorageCompletion) {
  const isOurs = storageBackend !== 'etcd3';
  const isSigningKeyGenerated = isOurs && options.serviceAccountSigningKeyFile === '' && options.serviceAccountSigningEndpoint === '';
  const signingKeyFile = isSigningKeyGenerated ? join(dataDir, 'service-account.key') : options.serviceAccountSigningKeyFile;
  const issuers = isOurs && options.serviceAccountIssuer.length === 0 ? [DEFAULT_ISSUER] : options.serviceAccountIssuer;
  const keyFiles = isOurs && options.serviceAccountKeyFile.length === 0 && signingKeyFile !== '' ? [signingKeyFile] : options.serviceAccountKeyFile;
  return {
    serviceAccountIssuer: issuers,
    serviceAccountSigningKeyFile: signingKeyFile,
    isSigningKeyGenerated,
    serviceAccountKeyFile: keyFiles,
    apiAudiences: options.apiAudiences.length === 0 ? issuers.slice(0, 1) : options.apiAudiences,
  };
}

/** At least one range comes back, so that what depends on it can be worked out; what is wrong is among the errors. */
function completeServiceRanges(flag: string, errors: string[]): readonly Cidr[] {
  const ranges = (flag === '' ? DEFAULT_SERVICE_RANGE : flag).split(',').map(parseCidr);
  if (!ranges[0]) errors.push('service-cluster-ip-range[0] is not a valid cidr');
  else if (hostBits(ranges[0]) < 3)
    errors.push('error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses');
  if (ranges.length > 1 && !ranges[1]) errors.push('service-cluster-ip-range[1] is not an ip net');
  const read = ranges.filter((range) => range !== undefined);
  return read.length > 0 ? read : [parseCidr(DEFAULT_SERVICE_RANGE)!];
}

function completeAdmission(options: Options): string[] {
  if (options.admissionControl.length === 0) return enabledPlugins(options.enableAdmissionPlugins, options.disableAdmissionPlugins);
  const all = enabledPlugins([], []);
  return enabledPlugins(
    options.admissionControl,
    all.filter((name) => !options.admissionControl.includes(name)),
  );
}

/** pkg/controlplane/apiserver/options: spellings of the core group become `/v1`; api/legacy is dropped. A key without a value is on. */
function completeRuntimeConfig(flag: ReadonlyMap<string, string>, errors: string[]): ReadonlyMap<string, boolean> {
  const config = new Map<string, boolean>();
  for (const [key, value] of flag) {
    if (key === 'api/legacy') continue;
    const isCore = /^(api\/)?v1(\/|$)/.test(key);
    try {
      config.set(isCore ? '/v1' : key, value === '' || parseBool(value));
    } catch (error) {
      errors.push(`invalid value of ${key}: ${value}, err: ${(error as Error).message}`);
    }
  }
  return config;
}

/** What is said of etcd, and of nothing else. */
const ETCD_ONLY: readonly FlagName[] = [
  'etcd-cafile',
  'etcd-certfile',
  'etcd-db-metric-poll-interval',
  'etcd-healthcheck-timeout',
  'etcd-keyfile',
  'etcd-readycheck-timeout',
  'etcd-servers-overrides',
  'lease-reuse-duration-seconds',
  'storage-media-type',
];

function* completionWarnings(
  options: Options,
  given: ReadonlySet<FlagName>,
  { authorizationMode: modes, storageBackend }: Pick<Completion, 'authorizationMode' | 'storageBackend'>,
): Generator<string> {
  if (storageBackend !== 'etcd3') {
    for (const flag of ETCD_ONLY) if (given.has(flag)) yield `--${flag} has no effect here: objects are not kept in etcd (--storage-backend=${storageBackend})`;
  }
  if (given.has('anonymous-auth') && options.anonymousAuth && modes.includes('AlwaysAllow')) {
    yield 'AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer';
  }
  if (WAYS_IN.every((flag) => !given.has(flag))) {
    yield 'nobody can log in: give --client-ca-file or --token-auth-file, or run `binnacle up`, which makes an administrator';
  }
}
