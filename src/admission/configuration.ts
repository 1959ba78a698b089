import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { ScopedResourceSelectorRequirement, Toleration } from '../apis/facts/types/core-v1.ts';
import { type KubeconfigUsers, loadKubeconfigUsers } from '../client/kubeconfig.ts';
import { type ConfigurationType, TEXT, decodeConfiguration, listOf, optional, structOf } from '../schema/configuration-file.ts';
import type { TypeSchema } from '../schema/schema.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { isJsonObject } from '../encoding/json.ts';
import { EVENT_LIMIT_TYPES, type EventLimit } from './event-rate-limit.ts';
import { type ImagePolicyConfiguration, readImagePolicy } from './image-policy/image-policy-configuration.ts';
import type { StaticManifests } from './manifests/static-manifests.ts';
import type { NodeSelectors } from './pod-node-selector.ts';
import type { PodSecurityConfiguration } from './pod-security/exemptions.ts';
import { policyOf } from './pod-security/policy.ts';
import type { TolerationDefaults } from './pod-toleration-restriction.ts';
import type { LimitedResource } from './resource-quota/quota-check.ts';

/** What --admission-control-config-file says, of the plug-ins that it configures. */
export interface PluginConfigurations {
  eventLimits?: readonly EventLimit[];
  nodeSelectors?: NodeSelectors;
  tolerations?: TolerationDefaults;
  limitedResources?: readonly LimitedResource[];
  podSecurity?: PodSecurityConfiguration;
  imagePolicy?: ImagePolicyConfiguration;
  /** Whom webhooks are called as. */
  mutatingWebhookUsers?: KubeconfigUsers;
  validatingWebhookUsers?: KubeconfigUsers;
  /** Folders of static manifests, by plug-in. */
  manifestFolders?: Readonly<Record<string, string>>;
  /** The same, read and followed. */
  manifests?: ReadonlyMap<string, StaticManifests>;
}

const INTEGER: TypeSchema = { type: 'int32' };
const TYPE_META = { kind: TEXT, apiVersion: TEXT };
const tolerations = listOf(structOf('v1.Toleration', { key: TEXT, operator: TEXT, value: TEXT, effect: TEXT, tolerationSeconds: optional({ type: 'int64' }) }));
const scopes = listOf(structOf('v1.ScopedResourceSelectorRequirement', { scopeName: TEXT, operator: TEXT, values: listOf(TEXT) }));

const EVENT_LIMITS: ConfigurationType = {
  kind: 'Configuration',
  apiVersions: ['eventratelimit.admission.k8s.io/v1alpha1'],
  schema: structOf('v1alpha1.Configuration', {
    ...TYPE_META,
    limits: listOf(structOf('v1alpha1.Limit', { type: TEXT, qps: INTEGER, burst: INTEGER, cacheSize: INTEGER })),
  }),
};
const TOLERATIONS: ConfigurationType = {
  kind: 'Configuration',
  apiVersions: ['podtolerationrestriction.admission.k8s.io/v1alpha1'],
  schema: structOf('v1alpha1.Configuration', { ...TYPE_META, default: tolerations, whitelist: tolerations }),
};
const LIMITED_RESOURCES = listOf(structOf('v1.LimitedResource', { apiGroup: TEXT, resource: TEXT, matchContains: listOf(TEXT), matchScopes: scopes }));
const quotaConfiguration = (kind: string, ...apiVersions: string[]): ConfigurationType => ({
  kind,
  apiVersions,
  schema: structOf('v1.Configuration', { ...TYPE_META, limitedResources: LIMITED_RESOURCES }),
});
const QUOTA = quotaConfiguration('ResourceQuotaConfiguration', 'apiserver.config.k8s.io/v1');
const OLD_QUOTA = quotaConfiguration('Configuration', 'resourcequota.admission.k8s.io/v1beta1', 'resourcequota.admission.k8s.io/v1alpha1');
const MODES = ['enforce', 'audit', 'warn'];
const POD_SECURITY: ConfigurationType = {
  kind: 'PodSecurityConfiguration',
  apiVersions: ['pod-security.admission.config.k8s.io/v1', 'pod-security.admission.config.k8s.io/v1beta1', 'pod-security.admission.config.k8s.io/v1alpha1'],
  schema: structOf('v1.PodSecurityConfiguration', {
    ...TYPE_META,
    defaults: structOf('v1.PodSecurityDefaults', Object.fromEntries(MODES.flatMap((mode) => [mode, `${mode}-version`]).map((name) => [name, TEXT]))),
    exemptions: structOf('v1.PodSecurityExemptions', { usernames: listOf(TEXT), namespaces: listOf(TEXT), runtimeClasses: listOf(TEXT) }),
  }),
};

const OWN_VERSION = ['apiserver.config.k8s.io/v1'];
const WEBHOOKS: ConfigurationType = {
  kind: 'WebhookAdmissionConfiguration',
  apiVersions: OWN_VERSION,
  schema: structOf('v1.WebhookAdmission', { ...TYPE_META, kubeConfigFile: TEXT, staticManifestsDir: TEXT }),
};
const policyConfiguration = (kind: string): ConfigurationType => ({
  kind,
  apiVersions: OWN_VERSION,
  schema: structOf(`v1.${kind}`, { ...TYPE_META, staticManifestsDir: TEXT }),
});

type IsEnabled = (gate: string) => boolean;
type Reader = (text: string, isEnabled: IsEnabled) => Promise<PluginConfigurations>;

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['EventRateLimit', readEventLimits],
  ['PodNodeSelector', readNodeSelectors],
  ['PodTolerationRestriction', readTolerations],
  ['ResourceQuota', readLimitedResources],
  ['PodSecurity', readPodSecurity],
  ['ImagePolicyWebhook', async (text) => ({ imagePolicy: await readImagePolicy(text) })],
  ...['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook'].map((plugin): [string, Reader] => [
    plugin,
    (text, isEnabled) => readWebhooks(plugin, text, isEnabled),
  ]),
  ...['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy'].map((plugin): [string, Reader] => [
    plugin,
    (text, isEnabled) => readPolicies(plugin, text, isEnabled),
  ]),
]);

/** Those that read a configuration. To all others one may be given, as upstream has it, but they do not look at it. */
export const configurablePlugins: readonly string[] = [...READERS.keys()];

/** Reads one plug-in's part, YAML or JSON. Throws an Error in upstream's words. `isEnabled`: whether a feature gate is on. */
export async function readPluginConfiguration(plugin: string, text: string, isEnabled: IsEnabled): Promise<PluginConfigurations> {
  return (await READERS.get(plugin)?.(text, isEnabled)) ?? {};
}

async function readWebhooks(plugin: string, text: string, isEnabled: IsEnabled): Promise<PluginConfigurations> {
  const read = (await decodeConfiguration(text, WEBHOOKS)) as { kubeConfigFile?: string; staticManifestsDir?: string };
  const { kubeConfigFile = '' } = read;
  const errors = new FieldErrors();
  if (kubeConfigFile !== '' && !isAbsolute(kubeConfigFile)) errors.at('kubeConfigFile').invalid(kubeConfigFile, 'must be an absolute file path');
  throwFaults(errors);
  const folder = await manifestFolder(plugin, read, isEnabled);
  if (kubeConfigFile === '') return folder;
  const users = plugin === 'MutatingAdmissionWebhook' ? 'mutatingWebhookUsers' : 'validatingWebhookUsers';
  return { ...folder, [users]: await loadKubeconfigUsers(kubeConfigFile) };
}

const readPolicies = async (plugin: string, text: string, isEnabled: IsEnabled): Promise<PluginConfigurations> =>
  manifestFolder(plugin, await decodeConfiguration(text, policyConfiguration(`${plugin}Configuration`)), isEnabled);

/** Upstream has them behind a gate that is off (plugin/manifest/validation.go; KEP-5793). */
async function manifestFolder(
  plugin: string,
  { staticManifestsDir = '' }: { staticManifestsDir?: unknown },
  isEnabled: IsEnabled,
): Promise<PluginConfigurations> {
  const folder = String(staticManifestsDir);
  if (folder === '') return {};
  const errors = new FieldErrors().at('staticManifestsDir');
  const problem = isAbsolute(folder) ? await folderProblem(folder) : 'must be an absolute file path';
  if (!isEnabled('ManifestBasedAdmissionControlConfig'))
    errors.forbidden('staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled');
  else if (problem !== undefined) errors.invalid(folder, problem);
  throwFaults(errors);
  return { manifestFolders: { [plugin]: folder } };
}

async function folderProblem(folder: string): Promise<string | undefined> {
  try {
    return (await stat(folder)).isDirectory() ? undefined : 'must be a directory';
  } catch (error) {
    return `unable to read: ${(error as Error).message}`;
  }
}

async function readEventLimits(text: string): Promise<PluginConfigurations> {
  const { limits } = (await decodeConfiguration(text, EVENT_LIMITS)) as { limits?: Partial<EventLimit>[] };
  const eventLimits = (limits ?? []).map(({ type, qps = 0, burst = 0, cacheSize = 0 }) => ({ type, qps, burst, cacheSize }) as EventLimit);
  return { eventLimits: validEventLimits(eventLimits) };
}

/** Throws where there are none: the plug-in is of no use then. */
export function validEventLimits(limits: readonly EventLimit[]): readonly EventLimit[] {
  const errors = new FieldErrors().at('limits');
  if (limits.length === 0) errors.invalid(null, 'must not be empty');
  for (const [index, { type, burst, qps, cacheSize }] of limits.entries()) {
    const at = errors.index(index);
    if (!EVENT_LIMIT_TYPES.includes(type)) at.at('type').notSupported(type ?? '', EVENT_LIMIT_TYPES);
    if (burst <= 0) at.at('burst').invalid(burst, 'must be positive');
    if (qps <= 0) at.at('qps').invalid(qps, 'must be positive');
    if (type !== 'Server' && cacheSize < 0) at.at('cacheSize').invalid(cacheSize, 'must not be negative');
  }
  throwFaults(errors);
  return limits;
}

function throwFaults(errors: FieldErrors): void {
  if (!errors.isEmpty) throw new Error(aggregateMessage(errors.list.map(({ field, body }) => `${field}: ${body}`)));
}

/** Has neither a kind nor a version. */
async function readNodeSelectors(text: string): Promise<PluginConfigurations> {
  const { parseYaml } = await import('../encoding/yaml.ts');
  const value = parseYaml(text);
  const selectors = isJsonObject(value) ? value.podNodeSelectorPluginConfig : undefined;
  if (!isJsonObject(selectors)) return {};
  return { nodeSelectors: Object.fromEntries(Object.entries(selectors).map(([namespace, selector]) => [namespace, String(selector)])) };
}

async function readTolerations(text: string): Promise<PluginConfigurations> {
  const read = (await decodeConfiguration(text, TOLERATIONS)) as { default?: Toleration[]; whitelist?: Toleration[] };
  return { tolerations: { default: read.default ?? [], whitelist: read.whitelist ?? [] } };
}

async function readLimitedResources(text: string): Promise<PluginConfigurations> {
  const isOld = text.includes('resourcequota.admission.k8s.io/');
  const { limitedResources } = (await decodeConfiguration(text, isOld ? OLD_QUOTA : QUOTA)) as { limitedResources?: Partial<LimitedResource>[] };
  return {
    limitedResources: (limitedResources ?? []).map(({ apiGroup = '', resource = '', matchContains = [], matchScopes = [] }) => ({
      apiGroup,
      resource,
      matchContains,
      matchScopes: matchScopes as readonly ScopedResourceSelectorRequirement[],
    })),
  };
}

async function readPodSecurity(text: string): Promise<PluginConfigurations> {
  const read = (await decodeConfiguration(text, POD_SECURITY)) as { defaults?: Record<string, string>; exemptions?: Record<string, string[]> };
  const given = Object.entries(read.defaults ?? {}).filter(([, value]) => value !== '');
  const defaults = Object.fromEntries(given);
  throwFaults(policyOf({}, defaults).errors);
  const { usernames = [], namespaces = [], runtimeClasses = [] } = read.exemptions ?? {};
  return { podSecurity: { defaults, usernames: new Set(usernames), namespaces: new Set(namespaces), runtimeClasses: new Set(runtimeClasses) } };
}
