import type { GroupResource } from '../../api/api-object.ts';
import { quote } from '../../util/go-quote.ts';
import type { Clock } from '../../util/clock.ts';
import { cbcTransformer, gcmTransformer } from './aes.ts';
import type { EncryptionConfiguration, KeysConfiguration, KmsConfiguration, ProviderConfiguration } from './configuration.ts';
import { EnvelopeTransformer } from './kms/envelope.ts';
import type { KmsObserver } from './kms/observer.ts';
import { KmsProbe } from './kms/probe.ts';
import { connectKms } from './kms/service.ts';
import { V1EnvelopeTransformer } from './kms/v1-envelope.ts';
import { KmsV1Probe } from './kms/v1-probe.ts';
import { connectKmsV1 } from './kms/v1-service.ts';
import { parseResource, printResource } from './resource-pattern.ts';
import { secretboxTransformer } from './secretbox.ts';
import { type PrefixTransformer, PrefixTransformers, type TransformObserver, type Transformer, identityTransformer } from './transformer.ts';

const KMS_V1_DEPRECATED = 'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.';

export type EncryptionObserver = TransformObserver & KmsObserver;

export interface ProviderOptions {
  observer: EncryptionObserver;
  /** The feature gate KMSv1. */
  allowsKmsV1?: boolean;
  clock?: Clock;
}

/** A plug-in, as the health of the server knows it. */
export interface PluginProbe {
  /** Rejects where the plug-in is not well. */
  check(): Promise<void>;
  close(): void;
}

/** What a configuration makes of stored values, until it is closed. */
export interface Providers {
  /** For a resource that no rule names: values are stored plainly. */
  transformerFor(resource: GroupResource): Transformer;
  /** The plug-ins, in the order of the configuration. */
  probes: readonly PluginProbe[];
  hasKmsV1: boolean;
  /** How long calls to all of them may take, one after the other. */
  kmsTimeoutMs: number;
  close(): void;
}

/** Throws an Error in upstream's words; plug-ins that are not there yet are none. */
export async function openProviders(configuration: EncryptionConfiguration, options: ProviderOptions): Promise<Providers> {
  const opening = new Opening(options);
  try {
    for (const { resources, providers } of configuration.resources) {
      const choices = await opening.providers(providers);
      for (const resource of resources) opening.addRule(resource, choices);
    }
    return opening.finish();
  } catch (error) {
    opening.close();
    throw error;
  }
}

class Opening {
  readonly #options: ProviderOptions;
  /** By the rule's text. */
  readonly #rules = new Map<string, PrefixTransformer[]>();
  readonly #probes: PluginProbe[] = [];
  #hasKmsV1 = false;
  #kmsTimeoutMs = 0;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async providers(configured: readonly ProviderConfiguration[]): Promise<PrefixTransformer[]> {
    const choices: PrefixTransformer[] = [];
    for (const provider of configured) choices.push(await this.#provider(provider));
    return choices;
  }

  addRule(text: string, choices: readonly PrefixTransformer[]): void {
    const pattern = parseResource(text);
    for (const wider of [`*.${pattern.group}`, '*.*']) {
      // A rule that comes after a wider one would never count.
      if (this.#rules.has(wider)) throw new Error(`resource ${quote(printResource(pattern))} is masked by earlier rule ${quote(wider)}`);
    }
    const rule = printResource(pattern);
    this.#rules.set(rule, [...(this.#rules.get(rule) ?? []), ...choices]);
  }

  finish(): Providers {
    const { observer } = this.#options;
    const byRule = new Map([...this.#rules].map(([rule, choices]) => [rule, new PrefixTransformers(choices, 'no matching prefix found', observer)]));
    return {
      transformerFor: ({ group, resource }) =>
        byRule.get(printResource({ group, resource })) ?? byRule.get(`*.${group}`) ?? byRule.get('*.*') ?? identityTransformer,
      probes: this.#probes,
      hasKmsV1: this.#hasKmsV1,
      kmsTimeoutMs: this.#kmsTimeoutMs,
      close: () => this.close(),
    };
  }

  close(): void {
    for (const probe of this.#probes) probe.close();
  }

  async #provider({ aesgcm, aescbc, secretbox, kms }: ProviderConfiguration): Promise<PrefixTransformer> {
    if (aesgcm) return this.#keyed('k8s:enc:aesgcm:v1:', aesgcm, gcmTransformer, 'AES');
    if (aescbc) return this.#keyed('k8s:enc:aescbc:v1:', aescbc, cbcTransformer, 'AES');
    if (secretbox) return this.#keyed('k8s:enc:secretbox:v1:', secretbox, secretboxTransformer, 'Secretbox');
    if (kms) return this.#kms(kms);
    return { prefix: Buffer.alloc(0), transformer: identityTransformer };
  }

  #keyed(prefix: string, { keys }: KeysConfiguration, create: (key: Buffer) => Transformer, what: string): PrefixTransformer {
    const choices = keys.map(({ name, secret }) => ({ prefix: Buffer.from(`${name}:`), transformer: create(Buffer.from(secret, 'base64')) }));
    const mismatch = `no matching key was found for the provided ${what} transformer`;
    return { prefix: Buffer.from(prefix), transformer: new PrefixTransformers(choices, mismatch, this.#options.observer) };
  }

  async #kms(configuration: KmsConfiguration): Promise<PrefixTransformer> {
    const { apiVersion, name, endpoint, timeoutMs } = configuration;
    const { observer, clock } = this.#options;
    if (apiVersion === 'v1') return this.#kmsV1(configuration);
    const service = connectKms(endpoint, { provider: name, timeoutMs, observer });
    const probe = new KmsProbe({ provider: name, service, observer, ...(clock && { clock }) });
    this.#probes.push(probe);
    this.#kmsTimeoutMs += timeoutMs;
    await probe.start();
    const now = clock ? () => clock.now() : Date.now;
    const transformer = new EnvelopeTransformer({ provider: name, service, observer, state: () => probe.state(), now });
    return { prefix: Buffer.from(`k8s:enc:kms:v2:${name}:`), transformer };
  }

  /** It is asked only when it is needed: a plug-in that is not there fails the reads and writes, and the health of the server. */
  #kmsV1({ name, endpoint, timeoutMs, cachesize = 0 }: KmsConfiguration): PrefixTransformer {
    const { observer, clock, allowsKmsV1 } = this.#options;
    if (!allowsKmsV1) throw new Error(`${KMS_V1_DEPRECATED}  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.`);
    const service = connectKmsV1(endpoint, timeoutMs);
    this.#probes.push(new KmsV1Probe(name, service, clock));
    this.#hasKmsV1 = true;
    // A check of health encrypts and decrypts.
    this.#kmsTimeoutMs += 2 * timeoutMs;
    const transformer = new V1EnvelopeTransformer({ service, observer, cacheSize: cachesize, now: clock ? () => clock.now() : Date.now });
    return { prefix: Buffer.from(`k8s:enc:kms:v1:${name}:`), transformer };
  }
}
