import { type ConfigurationType, DURATION, TEXT, decodeConfiguration, listOf, optional, structOf } from '../../schema/configuration-file.ts';
import { parseDuration } from '../../util/duration.ts';

/* EncryptionConfiguration of apiserver.config.k8s.io/v1 (apiserver/pkg/apis/apiserver/v1). */

export interface EncryptionConfiguration {
  resources: ResourceConfiguration[];
}

export interface ResourceConfiguration {
  resources: string[];
  providers: ProviderConfiguration[];
}

/** One of them. */
export interface ProviderConfiguration {
  aesgcm?: KeysConfiguration;
  aescbc?: KeysConfiguration;
  secretbox?: KeysConfiguration;
  identity?: object;
  kms?: KmsConfiguration;
}

export interface KeysConfiguration {
  keys: KeyConfiguration[];
}

export interface KeyConfiguration {
  name: string;
  /** In base64. */
  secret: string;
}

export interface KmsConfiguration {
  apiVersion: string;
  name: string;
  cachesize?: number;
  endpoint: string;
  timeoutMs: number;
}

const KEYS = structOf('v1.AESConfiguration', { keys: listOf(structOf('v1.Key', { name: TEXT, secret: TEXT })) });
const KMS = structOf('v1.KMSConfiguration', {
  apiVersion: TEXT,
  name: TEXT,
  cachesize: optional({ type: 'int32' }),
  endpoint: TEXT,
  timeout: optional(DURATION),
});
const PROVIDER = structOf('v1.ProviderConfiguration', {
  aesgcm: optional(KEYS),
  aescbc: optional(KEYS),
  secretbox: optional(KEYS),
  identity: optional(structOf('v1.IdentityConfiguration', {})),
  kms: optional(KMS),
});
const CONFIGURATION: ConfigurationType = {
  kind: 'EncryptionConfiguration',
  apiVersions: ['apiserver.config.k8s.io/v1'],
  schema: structOf('v1.EncryptionConfiguration', {
    kind: TEXT,
    apiVersion: TEXT,
    resources: listOf(structOf('v1.ResourceConfiguration', { resources: listOf(TEXT), providers: listOf(PROVIDER) })),
  }),
};

const DEFAULT_TIMEOUT = '3s';
const DEFAULT_API_VERSION = 'v1';
/** Only KMS v1 has one. */
const DEFAULT_CACHE_SIZE = 1000;

/** Strict: an unknown field is an error. Throws an Error in upstream's words. */
export async function parseEncryptionConfiguration(text: string): Promise<EncryptionConfiguration> {
  const { resources = [] } = (await decodeConfiguration(text, CONFIGURATION)) as unknown as { resources?: Partial<ResourceConfiguration>[] };
  return {
    resources: resources.map(({ resources: names = [], providers = [] }) => ({ resources: names, providers: providers.map(completeProvider) })),
  };
}

type WrittenKms = Partial<Omit<KmsConfiguration, 'timeoutMs'>> & { timeout?: string };

function completeProvider(provider: ProviderConfiguration): ProviderConfiguration {
  const { kms, ...others } = provider as Omit<ProviderConfiguration, 'kms'> & { kms?: WrittenKms };
  for (const keys of [others.aesgcm, others.aescbc, others.secretbox])
    if (keys) keys.keys = (keys.keys ?? []).map(({ name = '', secret = '' }) => ({ name, secret }));
  return { ...others, ...(kms && { kms: completeKms(kms) }) };
}

function completeKms({ apiVersion, name = '', cachesize, endpoint = '', timeout = DEFAULT_TIMEOUT }: WrittenKms): KmsConfiguration {
  const version = apiVersion || DEFAULT_API_VERSION;
  const size = cachesize ?? (version === 'v1' ? DEFAULT_CACHE_SIZE : undefined);
  return { apiVersion: version, name, ...(size !== undefined && { cachesize: size }), endpoint, timeoutMs: parseDuration(timeout) };
}
