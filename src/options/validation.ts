import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { unknownControllers } from '../controllers/names.ts';
import { admissionPlugins } from '../admission/plugin-order.ts';
import { type Cidr, hostBits } from '../net/cidr.ts';
import { parseQuantity, quantitySign } from '../api/quantity.ts';
import { goRegexpError } from '../re2/go-regexp.ts';
import type { Draft } from './completion.ts';
import type { AnyFlag } from './flags/flag.ts';
import { flagsByName, optionName, type Options } from './flags/options.ts';
import { file } from './flags/types.ts';
import { validateMetricFlags } from './metric-selection.ts';
import { validateAuditing } from './validation-auditing.ts';
import { validateAuthentication, validateAuthorization } from './validation-auth.ts';
import { validateRuntimeConfig } from './validation-runtime-config.ts';

/** Everything that is wrong, in upstream's words and order (pkg/controlplane/apiserver/options, apiserver/pkg/server/options). */
export const validateOptions = (options: Draft): string[] => [
  ...validateGeneric(options),
  ...validateWorkers(options),
  ...validateConsole(options),
  ...validateStorage(options),
  ...validateSecureServing(options),
  ...validateAuthentication(options),
  ...validateAuthorization(options),
  ...validateAuditing(options),
  ...validateAdmission(options),
  ...validateRuntimeConfig(options),
  ...validateControllers(options),
  ...validateMetricFlags(options),
  ...validateLogs(options),
  ...validateLeadership(options),
  ...validatePeers(options),
  ...validateServiceRanges(options),
  ...validateNodePorts(options),
  ...validateFiles(options),
  ...validateSupervision(options),
  ...validateHistory(options),
];

const HISTORY_SECRETS = ['keys', 'hashed', 'encrypted'];

function* validateHistory({ historyBounds, historySecrets, workerCount, etcdServersOverrides, encryptionProviderConfig }: Draft): Generator<string> {
  if (!HISTORY_SECRETS.includes(historySecrets)) yield `--history-secrets must be one of ${HISTORY_SECRETS.join(', ')}`;
  if (historySecrets === 'encrypted' && encryptionProviderConfig === '') yield '--history-secrets=encrypted needs --encryption-provider-config';
  if (!historyBounds) return;
  if (workerCount > 0) yield '--history needs one process: it can not be combined with --workers';
  if (etcdServersOverrides.length > 0) yield '--history needs one store: it can not be combined with --etcd-servers-overrides';
}

function* validateSupervision({ supervised, stallReportAfterMs, stallKillAfterMs, heapLimitMib, memoryLimitMib }: Draft): Generator<string> {
  if (stallReportAfterMs < MIN_STALL_REPORT_MS) yield `--stall-report-after must be at least ${MIN_STALL_REPORT_MS}ms`;
  if (stallKillAfterMs <= stallReportAfterMs) yield '--stall-kill-after must be longer than --stall-report-after';
  if (heapLimitMib < 0) yield '--heap-limit-mib can not be negative';
  if (memoryLimitMib < 0) yield '--memory-limit-mib can not be negative';
  if (!supervised && (heapLimitMib > 0 || memoryLimitMib > 0))
    yield '--heap-limit-mib and --memory-limit-mib need --supervised: a process cannot end and restart itself';
}

/** Shorter pauses are part of V8's work. */
const MIN_STALL_REPORT_MS = 100;

const notNegative: readonly (readonly [option: keyof Options, message: string])[] = [
  ['livezGracePeriodMs', '--livez-grace-period can not be a negative value'],
  ['maxRequestsInflight', '--max-requests-inflight can not be negative value'],
  ['maxMutatingRequestsInflight', '--max-mutating-requests-inflight can not be negative value'],
  ['requestTimeoutMs', '--request-timeout can not be negative value'],
  ['minRequestTimeoutSeconds', '--min-request-timeout can not be negative value'],
  ['storageInitializationTimeoutMs', '--storage-initialization-timeout can not be negative value'],
  ['shutdownDelayDurationMs', '--shutdown-delay-duration can not be negative value'],
  ['shutdownWatchTerminationGracePeriodMs', 'shutdown-watch-termination-grace-period, if provided, can not be a negative value'],
];

function* validateGeneric(options: Draft): Generator<string> {
  for (const [option, message] of notNegative) if ((options[option as keyof Draft] as number) < 0) yield message;
  if (options.goawayChance < 0 || options.goawayChance > 0.02) yield '--goaway-chance can not be less than 0 or greater than 0.02';
  for (const directive of options.strictTransportSecurityDirectives) yield* validateHstsDirective(directive);
  for (const origin of options.corsAllowedOrigins) yield* validateCorsOrigin(origin);
}

function* validateHstsDirective(directive: string): Generator<string> {
  if (directive.trim() === '') yield 'empty value in strict-transport-security-directives';
  else if (!/^(includeSubDomains|preload|max-age=[^=]*)$/.test(directive)) {
    yield '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information';
  }
}

/** The expression must pin the whole host, or an attacker's host that contains an allowed one passes (CVE-2022-1996). */
function* validateCorsOrigin(origin: string): Generator<string> {
  const help = "help: pin the host from '^' or '//' to '$' or ':', as in '//example\\.com(:|$)' and '^https://example\\.com(:|$)'";
  if (origin === '') {
    yield `empty value in --cors-allowed-origins, ${help}`;
    return;
  }
  const problem = goRegexpError(origin);
  if (problem !== undefined) {
    yield `--cors-allowed-origins has an invalid regular expression: ${problem}, ${help}`;
    return;
  }
  if (!/\^|\/\//.test(origin) || !/[$:]/.test(origin)) {
    yield `--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header, ${help}`;
  }
}

/** More than any machine has use for. */
const MAX_WORKERS = 256;

function* validateWorkers({ workerCount, workers, supervised, debugSocketPath }: Draft): Generator<string> {
  if (!Number.isInteger(workerCount) || workerCount < 0 || workerCount > MAX_WORKERS)
    yield `--workers takes a number of processes up to ${MAX_WORKERS}, or auto, not ${JSON.stringify(workers)}`;
  if (workerCount > 0 && supervised) yield '--supervised has no place beside --workers: the process that starts workers watches them itself';
  if (workerCount > 0 && debugSocketPath !== '')
    yield '--debug-socket-path has no place beside --workers: one socket cannot show the profiles of several processes';
}

function* validateConsole({ console, workerCount }: Draft): Generator<string> {
  if (console && workerCount > 0) yield '--console has no place beside --workers: sessions, and what the console shows, are those of one process';
}

const STORAGE_BACKENDS = ['embedded', 'memory', 'etcd3'];
const STORAGE_MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];

function* validateStorage(options: Draft): Generator<string> {
  if (!STORAGE_BACKENDS.includes(options.storageBackend)) {
    yield `--storage-backend invalid, allowed values: ${STORAGE_BACKENDS.join(', ')}. If not specified, it will default to 'embedded', or to 'etcd3' with --etcd-servers`;
  }
  if (options.storageBackend === 'etcd3') {
    if (options.etcdServers.length === 0) yield '--etcd-servers must be specified';
  }
  if (options.etcdServersOverrides.some((override) => !/^[^#/]*\/[^#/]*#[^#;]+(;[^#;]+)*$/.test(override))) {
    yield '--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated';
  }
  if (options.encryptionProviderConfig === '' && options.encryptionProviderConfigAutomaticReload) {
    yield '--encryption-provider-config-automatic-reload must be set with --encryption-provider-config';
  }
  const mediaType = options.storageMediaType;
  if (mediaType !== '' && !STORAGE_MEDIA_TYPES.includes(mediaType))
    yield `--storage-media-type ${JSON.stringify(mediaType)} invalid, allowed values: ${STORAGE_MEDIA_TYPES.join(', ')}`;
  for (const size of options.watchCacheSizes) yield* validateWatchCacheSize(size);
}

function* validateWatchCacheSize(setting: string): Generator<string> {
  const [, size, ...more] = setting.split('#');
  if (size === undefined || more.length > 0) yield `invalid value of watch cache size: ${setting}`;
  else if (!/^[+-]?\d+$/.test(size)) yield `invalid size of watch cache size: ${setting}`;
  else if (Number(size) < 0) yield `watch cache size cannot be negative: ${setting}`;
}

function* validateSecureServing({ securePort, http2MaxStreamsPerConnection, tlsCertFile, tlsPrivateKeyFile }: Draft): Generator<string> {
  // Unlike upstream we take 0: any free port.
  if (securePort < 0 || securePort > 65_535) yield `--secure-port ${securePort} must be between 1 and 65535, inclusive, or 0 for any free one`;
  if (http2MaxStreamsPerConnection < 0) yield '--http2-max-streams-per-connection can not be negative value';
  if ((tlsCertFile === '') !== (tlsPrivateKeyFile === '')) yield '--tls-cert-file and --tls-private-key-file must be given together';
}

const isKnownPlugin = (plugin: string): boolean => admissionPlugins.some(({ name }) => name === plugin);

/** kube-controller-manager's words. */
const validateControllers = ({ controllers }: Draft): string[] =>
  unknownControllers(controllers).map((name) => `'${name}' is not in the list of known controllers`);

function* validateAdmission({ admissionControl, enableAdmissionPlugins, disableAdmissionPlugins }: Draft): Generator<string> {
  if (admissionControl.length > 0 && (enableAdmissionPlugins.length > 0 || disableAdmissionPlugins.length > 0)) {
    yield 'admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive';
  }
  const lists = {
    'admission-control': admissionControl,
    'enable-admission-plugins': enableAdmissionPlugins,
    'disable-admission-plugins': disableAdmissionPlugins,
  };
  for (const [flag, names] of Object.entries(lists)) {
    for (const name of names) if (!isKnownPlugin(name)) yield `${flag} plugin ${JSON.stringify(name)} is unknown`;
  }
  const overlap = [...new Set(enableAdmissionPlugins)].filter((name) => disableAdmissionPlugins.includes(name)).toSorted();
  if (overlap.length > 0) yield `[${overlap.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`;
}

const isSet = (value: boolean | string): boolean => (typeof value === 'boolean' ? value : quantitySign(parseQuantity(value)) !== 0);
const alphaLogging = {
  logTextSplitStream: 'text.splitStream',
  logTextInfoBufferSize: 'text.infoBufferSize',
  logJsonSplitStream: 'json.splitStream',
  logJsonInfoBufferSize: 'json.infoBufferSize',
} as const;

function* validateLogs(options: Draft): Generator<string> {
  const { loggingFormat, logFlushFrequencyMs, vmodule } = options;
  if (logFlushFrequencyMs <= 0) yield 'flushFrequency: Invalid value: Must be greater than zero';
  if (loggingFormat !== 'text' && loggingFormat !== 'json') yield `format: Invalid value: ${JSON.stringify(loggingFormat)}: Unsupported log format`;
  if (vmodule !== '' && loggingFormat !== 'text') yield 'vmodule: Forbidden: Only supported for text log format';
  if (options.featureGates.isEnabled('LoggingAlphaOptions')) return;
  for (const [option, field] of Object.entries(alphaLogging)) {
    if (isSet(options[option as keyof typeof alphaLogging])) yield `options.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`;
  }
}

/** The last two upstream says when it makes the proxy (pkg/controlplane/apiserver/peer.go). */
function* validatePeers({ peerCaFile, peerAdvertiseIp, peerAdvertisePort, proxyClientCertFile, proxyClientKeyFile, featureGates }: Draft): Generator<string> {
  const flags = { 'peer-ca-file': peerCaFile, 'peer-advertise-ip': peerAdvertiseIp, 'peer-advertise-port': peerAdvertisePort };
  if (!featureGates.isEnabled('UnknownVersionInteroperabilityProxy')) {
    for (const [flag, value] of Object.entries(flags)) if (value !== '') yield `--${flag} requires UnknownVersionInteroperabilityProxy feature to be turned on`;
  } else if (peerCaFile !== '' && proxyClientCertFile === '') yield 'error building peer proxy handler, proxy-cert-file not specified';
  else if (peerCaFile !== '' && proxyClientKeyFile === '') yield 'error building peer proxy handler, proxy-key-file not specified';
}

function* validateLeadership(options: Draft): Generator<string> {
  if (options.coordinatedLeadershipLeaseDurationMs <= options.coordinatedLeadershipRenewDeadlineMs) {
    yield '--coordinated-leadership-lease-duration must be greater than --coordinated-leadership-renew-deadline';
  }
  if (options.coordinatedLeadershipRenewDeadlineMs <= options.coordinatedLeadershipRetryPeriodMs) {
    yield '--coordinated-leadership-renew-deadline must be greater than --coordinated-leadership-retry-period';
  }
}

const ENDPOINT_RECONCILERS = ['lease', 'master-count', 'none'];

function* validateServiceRanges(options: Draft): Generator<string> {
  if (!ENDPOINT_RECONCILERS.includes(options.endpointReconcilerType)) {
    yield `--endpoint-reconciler-type ${JSON.stringify(options.endpointReconcilerType)} invalid, allowed values: ${ENDPOINT_RECONCILERS.join(', ')}`;
  }
  const [primary, secondary] = options.ranges as [Cidr, Cidr?];
  if (options.serviceClusterIpRange.split(',').length > 2) yield '--service-cluster-ip-range must not contain more than two entries';
  if (secondary && primary.family === secondary.family) yield '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family';
  if (options.endpointReconcilerType !== 'none' && hostBits(primary) >= 3 && primary.family !== isIP(options.advertiseAddress)) {
    yield `service IP family ${JSON.stringify(primary.text)} must match public address family ${JSON.stringify(options.advertiseAddress)}`;
  }
}

function* validateNodePorts({ kubernetesServiceNodePort: port, serviceNodePortRange: { first, last }, apiserverCount }: Draft): Generator<string> {
  if (port < 0 || port > 65_535) {
    yield `--kubernetes-service-node-port ${port} must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will be of type ClusterIP`;
  }
  if (port > 0 && (port < first || port > last)) yield `kubernetes service node port range ${first}-${last} doesn't contain ${port}`;
  if (apiserverCount <= 0) yield `--apiserver-count should be a positive number, but value '${apiserverCount}' provided`;
}

/** A file that a flag names must be readable: the server would only find out later, and say less. */
function* validateFiles(options: Draft): Generator<string> {
  for (const name of options.given) {
    const flag: AnyFlag = flagsByName.get(name)!;
    const path = options[optionName(name, flag) as keyof Draft];
    if (flag.type !== file || path === '') continue;
    const problem = fileProblem(path as string);
    if (problem !== undefined) yield `--${name}: cannot read ${JSON.stringify(path)}: ${problem}`;
  }
}

function fileProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isDirectory() ? 'it is a folder' : undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : 'permission denied';
  }
}
