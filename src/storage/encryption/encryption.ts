import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { GroupResource } from '../../api/api-object.ts';
import { type Clock, type Timer, systemClock } from '../../util/clock.ts';
import { parseEncryptionConfiguration } from './configuration.ts';
import { type EncryptionObserver, type Providers, openProviders } from './providers.ts';
import { type Transformer, aggregated } from './transformer.ts';
import { checkConfiguration } from './validate-configuration.ts';

/** Encryption at rest, as the configuration file says it now. */
export interface Encryption {
  transformerFor(resource: GroupResource): Transformer;
  /** As upstream names them; they reject where a plug-in is not well. */
  healthChecks: readonly EncryptionCheck[];
  close(): void;
}

export interface EncryptionCheck {
  name: string;
  check(): Promise<void>;
}

export interface ReloadObserver {
  /** `hash` is the content's that is in use now. */
  loaded(hash: string): void;
  reloaded(succeeded: boolean): void;
}

export interface EncryptionOptions {
  /** --encryption-provider-config-automatic-reload */
  reloads: boolean;
  /** The feature gate KMSv1. */
  allowsKmsV1?: boolean;
  observer: EncryptionObserver & ReloadObserver;
  /** Told of a content that can not be used; the one before stays. */
  report(error: Error): void;
  clock?: Clock;
}

/** How often the file is looked at (…/encryptionconfig/controller). */
const POLL_MS = 60_000;
/** New plug-ins must be well within this, or within twice what their calls may take, before they are used. */
const MIN_HEALTH_WAIT_MS = 10_000;
const HEALTH_RETRY_MS = 100;
/** One that failed is tried again so much later at first, and twice as long each time. */
const FIRST_RETRY_MS = 1_000;

interface Loaded {
  hash: string;
  providers: Providers;
}

/** Throws an Error in upstream's words where the file can not be used. */
export async function openEncryption(path: string, options: EncryptionOptions): Promise<Encryption> {
  const first = await load(path, options);
  options.observer.loaded(first.hash);
  const encryption = new FileEncryption(path, first, options);
  if (options.reloads) encryption.follow();
  return encryption;
}

class FileEncryption implements Encryption {
  readonly healthChecks: readonly EncryptionCheck[];
  readonly #path: string;
  readonly #options: EncryptionOptions;
  readonly #clock: Clock;
  #loaded: Loaded;
  #timer: Timer | undefined;
  #failures = 0;
  #isClosed = false;
  /** Replaced, and kept until whatever uses them has ended. */
  readonly #retired = new Set<Providers>();

  constructor(path: string, loaded: Loaded, options: EncryptionOptions) {
    this.#path = path;
    this.#loaded = loaded;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { probes, hasKmsV1 } = loaded.providers;
    // One for all, but each plug-in has its own where one of version 1 is among them and none can come later.
    if (!options.reloads && hasKmsV1) this.healthChecks = probes.map((probe, i) => ({ name: `kms-provider-${i}`, check: () => probe.check() }));
    else if (options.reloads || probes.length > 0) this.healthChecks = [{ name: 'kms-providers', check: () => checkProbes(this.#loaded.providers) }];
    else this.healthChecks = [];
  }

  transformerFor(resource: GroupResource): Transformer {
    return this.#loaded.providers.transformerFor(resource);
  }

  /** Looks at the file from now on. */
  follow(): void {
    const delayMs = this.#failures === 0 ? POLL_MS : Math.min(POLL_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    this.#timer = this.#clock.after(delayMs, () => {
      void this.#reload().finally(() => {
        if (!this.#isClosed) this.follow();
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const providers of [this.#loaded.providers, ...this.#retired]) providers.close();
  }

  async #reload(): Promise<void> {
    const { observer, report } = this.#options;
    try {
      const { hash } = await readContent(this.#path);
      if (hash !== this.#loaded.hash && (await this.#replace())) {
        observer.loaded(this.#loaded.hash);
        observer.reloaded(true);
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      observer.reloaded(false);
      report(new Error(`error processing encryption config file ${this.#path}: ${(error as Error).message}`));
    }
  }

  async #replace(): Promise<boolean> {
    const next = await load(this.#path, this.#options);
    try {
      await whenWell(next.providers, this.#clock);
    } catch (error) {
      next.providers.close();
      throw error;
    }
    if (this.#isClosed || next.hash === this.#loaded.hash) {
      next.providers.close();
      return false;
    }
    this.#retire(this.#loaded.providers);
    this.#loaded = next;
    return true;
  }

  /** Calls that are under way may end. */
  #retire(providers: Providers): void {
    this.#retired.add(providers);
    this.#clock.after(2 * providers.kmsTimeoutMs, () => {
      this.#retired.delete(providers);
      providers.close();
    });
  }
}

async function load(path: string, { reloads, allowsKmsV1 = false, observer, clock }: EncryptionOptions): Promise<Loaded> {
  const { text, hash } = await readContent(path).catch((error: Error) => {
    throw new Error(`error while parsing file: error while loading file: ${error.message}`);
  });
  const configuration = await parse(path, text, reloads);
  try {
    return { hash, providers: await openProviders(configuration, { observer, allowsKmsV1, ...(clock && { clock }) }) };
  } catch (error) {
    throw new Error(`error while building transformers: ${(error as Error).message}`, { cause: error });
  }
}

async function parse(path: string, text: string, reloads: boolean) {
  try {
    const configuration = await parseEncryptionConfiguration(text).catch((error: Error) => {
      throw new Error(`error decoding encryption provider configuration file ${JSON.stringify(path)}: ${error.message}`, { cause: error });
    });
    checkConfiguration(configuration, reloads);
    return configuration;
  } catch (error) {
    throw new Error(`error while parsing file: ${(error as Error).message}`, { cause: error });
  }
}

async function readContent(path: string): Promise<{ text: string; hash: string }> {
  let content: Buffer;
  try {
    content = await readFile(path);
  } catch (error) {
    throw new Error(`error reading encryption provider configuration file ${JSON.stringify(path)}: ${(error as Error).message}`, { cause: error });
  }
  if (content.length === 0) throw new Error(`encryption provider configuration file ${JSON.stringify(path)} is empty`);
  return { text: content.toString(), hash: `sha256:${createHash('sha256').update(content).digest('hex')}` };
}

/** All of them are asked, one after the other. */
async function checkProbes({ probes }: Providers): Promise<void> {
  const errors: Error[] = [];
  for (const [i, probe] of probes.entries()) await probe.check().catch((error: Error) => errors.push(new Error(`kms-provider-${i}: ${error.message}`)));
  if (errors.length > 0) throw aggregated(errors);
}

async function whenWell(providers: Providers, clock: Clock): Promise<void> {
  const deadlineMs = clock.now() + Math.max(MIN_HEALTH_WAIT_MS, 2 * providers.kmsTimeoutMs);
  for (;;) {
    try {
      return await checkProbes(providers);
    } catch (error) {
      if (clock.now() >= deadlineMs)
        throw new Error(`health check for new transformers failed, polling error context deadline exceeded: ${(error as Error).message}`, { cause: error });
    }
    await new Promise<void>((resolve) => clock.after(HEALTH_RETRY_MS, resolve));
  }
}
