import { hostname } from 'node:os';
import { storedResource } from '../apis/stored-resources.ts';
import type { HealthCheck } from '../server/health.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { StorageMediaType, UpstreamEncoding } from '../storage/encoding/upstream-codec.ts';
import type { Encryption } from '../storage/encryption/encryption.ts';
import type { Engine } from '../storage/engine.ts';
import { serverIdentity } from '../api/server-identity.ts';
import { CommandError } from '../options/command-error.ts';
import type { Logger } from './logger.ts';
import type { OpenStorage, StorageSettings } from './storage.ts';

/** What stands in the stores: objects in some encoding, encrypted or not. */
export interface StoredValues {
  /** The stores, values in them plain to whoever uses them. */
  storage: OpenStorage;
  /** Undefined where values are our own JSON. */
  encoding: UpstreamEncoding | undefined;
  /** --encryption-provider-config */
  encryption: Encryption | undefined;
  healthChecks: readonly HealthCheck[];
  close(): void;
}

/** Throws a CommandError where --encryption-provider-config can not be used. */
export async function openStoredValues(options: StorageSettings, storage: OpenStorage, logger: Logger, registry: MetricRegistry): Promise<StoredValues> {
  const encoding = await encodingOf(options);
  const encryption = await openConfigured(options, logger, registry);
  if (!encryption) return { storage, encoding, encryption, healthChecks: [], close() {} };
  return {
    storage: await encrypted(storage, encryption, `${options.etcdPrefix}/`),
    encoding,
    encryption,
    healthChecks: encryption.healthChecks,
    close: () => encryption.close(),
  };
}

/** Only etcd is shared with others, who must be able to read it. */
async function encodingOf({ storageBackend, storageMediaType, featureGates }: StorageSettings): Promise<UpstreamEncoding | undefined> {
  if (storageBackend !== 'etcd3') return undefined;
  const { parseYaml, toYaml } = await import('../encoding/yaml.ts');
  return { mediaType: storageMediaType as StorageMediaType, yaml: { parseYaml, toYaml }, hasCbor: featureGates.isEnabled('CBORServingAndStorage') };
}

/** Loaded only where it is asked for. */
async function openConfigured(options: StorageSettings, logger: Logger, registry: MetricRegistry): Promise<Encryption | undefined> {
  if (options.encryptionProviderConfig === '') return undefined;
  const [{ openEncryption }, { registerEncryptionMetrics }] = await Promise.all([
    import('../storage/encryption/encryption.ts'),
    import('../server/metrics/encryption-metrics.ts'),
  ]);
  try {
    return await openEncryption(options.encryptionProviderConfig, {
      allowsKmsV1: options.featureGates.isEnabled('KMSv1'),
      reloads: options.encryptionProviderConfigAutomaticReload,
      observer: registerEncryptionMetrics(registry, serverIdentity(hostname(), 'kube-apiserver'), Date.now),
      report: (error) => logger.error('The encryption configuration that changed cannot be used; the old one stays', { error: error.message }),
    });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

async function encrypted({ engine, overrides, ...rest }: OpenStorage, encryption: Encryption, prefix: string): Promise<OpenStorage> {
  const { encryptedEngine } = await import('../storage/encryption/encrypted-engine.ts');
  const resourceOf = (key: string) => storedResource(key.slice(prefix.length));
  const wrapped = new Map<Engine, Engine>([engine, ...overrides.values()].map((each) => [each, encryptedEngine(each, encryption, resourceOf)]));
  return {
    ...rest,
    engine: wrapped.get(engine)!,
    overrides: new Map([...overrides].map(([resource, each]) => [resource, wrapped.get(each)!])),
  };
}
