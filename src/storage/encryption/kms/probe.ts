import { randomBytes } from 'node:crypto';
import { labelHash } from '../../../api/server-identity.ts';
import { type Clock, type Timer, systemClock } from '../../../util/clock.ts';
import { SEED_BYTES, extendedNonceTransformer } from '../aes.ts';
import { aggregated } from '../transformer.ts';
import { type WriteState, checkEncryptedObject, keyIdProblem, rfc3339 } from './envelope.ts';
import { DEK_SOURCE_SEED, type EncryptedObject, type KmsStatusResponse } from './messages.ts';
import type { KmsObserver } from './observer.ts';
import type { KmsService } from './service.ts';

/* How upstream follows a plug-in (encryptionconfig/config.go): its answers to Status say whether it is well, and which key it uses. */

const WELL_INTERVAL_MS = 60_000;
const UNWELL_INTERVAL_MS = 10_000;
/** For so long after the last good answer values may be written. */
const WRITE_STATE_MS = 180_000;
/** A health check within so long after the last one is answered with its result. */
export const WELL_KEPT_MS = 20_000;
export const UNWELL_KEPT_MS = 3_000;
const API_VERSIONS = new Set(['v2', 'v2beta1']);
/** Any data at all, to check an object by that has none yet. */
const SOME_DATA = Buffer.from([0]);

/** What a plug-in says is shown to whoever asks for the server's health, and logged. */
const MAX_SHOWN_CHARACTERS = 1024;
const shortened = (text: string): string => (text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text);

interface ProbeOptions {
  provider: string;
  service: KmsService;
  observer: KmsObserver;
  clock?: Clock;
  /** Makes seeds; throws where the machine has no randomness to give. */
  random?: (sizeBytes: number) => Buffer;
}

/** Asks a plug-in how it is, and keeps a seed that it has encrypted with its current key. */
export class KmsProbe {
  readonly #options: ProbeOptions;
  readonly #clock: Clock;
  #state: WriteState | undefined;
  #apiVersion = '';
  #last: { atMs: number; keptMs: number; error: Error | undefined } = { atMs: -Infinity, keptMs: UNWELL_KEPT_MS, error: undefined };
  #checking: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Resolves after the first answer, good or not: a plug-in may start after the server. Goes on asking until it is closed. */
  async start(): Promise<void> {
    await this.#checkAndGoOn();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#options.service.close();
  }

  /** What to write with, which may have expired. Throws while there has been none. */
  state(): WriteState {
    if (this.#state === undefined) throw new Error('got unexpected nil transformer');
    return this.#state;
  }

  /** Rejects where the plug-in is not well. */
  check(): Promise<void> {
    if (this.#clock.now() - this.#last.atMs < this.#last.keptMs) return this.#last.error ? Promise.reject(this.#last.error) : Promise.resolve();
    return (this.#checking ??= this.#checkNow().finally(() => (this.#checking = undefined)));
  }

  async #checkAndGoOn(): Promise<void> {
    let delayMs = WELL_INTERVAL_MS;
    try {
      await this.check();
    } catch {
      // Whoever asks for health is told.
      delayMs = UNWELL_INTERVAL_MS;
    }
    if (this.#isClosed) return;
    this.#timer = this.#clock.after(delayMs, () => void this.#checkAndGoOn());
  }

  async #checkNow(): Promise<void> {
    const { provider, service } = this.#options;
    try {
      let status: KmsStatusResponse;
      try {
        status = await service.status();
      } catch (error) {
        throw new Error(`failed to perform status section of the healthz check for KMS Provider ${provider}, error: ${(error as Error).message}`, {
          cause: error,
        });
      }
      await this.#check(status);
      this.#last = { atMs: this.#clock.now(), keptMs: WELL_KEPT_MS, error: undefined };
    } catch (error) {
      this.#last = { atMs: this.#clock.now(), keptMs: UNWELL_KEPT_MS, error: error as Error };
      throw error;
    }
  }

  async #check({ healthz, version, keyId }: KmsStatusResponse): Promise<void> {
    const { provider, observer } = this.#options;
    const errors: Error[] = [];
    if (healthz !== 'ok') errors.push(new Error(`got unexpected healthz status: ${shortened(healthz)}`));
    if (!API_VERSIONS.has(version)) errors.push(new Error(`expected KMSv2 API version v2, got ${shortened(version)}`));
    else {
      this.#apiVersion ||= version;
      if (this.#apiVersion !== version)
        errors.push(new Error(`KMSv2 API version should not change after the initial status response version ${this.#apiVersion}, got ${version}`));
    }
    const problem = keyIdProblem(keyId);
    if (problem) {
      observer.invalidKeyIdTold(provider, problem.code);
      errors.push(new Error(`got invalid KMSv2 KeyID hash "${labelHash(keyId)}": ${problem.message}`));
    } else {
      observer.keyIdTold(provider, keyId);
      await this.#follow(keyId).catch((error: Error) => errors.push(error));
    }
    if (errors.length > 0) throw new Error(`kmsv2 Provider ${provider} is not healthy, error: ${aggregated(errors).message}`);
  }

  /** The same key: what there is may be used for longer. Another: a new seed, encrypted with it; until that is there, the old one until it expires. */
  async #follow(keyId: string): Promise<void> {
    const expiresAtMs = this.#clock.now() + WRITE_STATE_MS;
    const before = this.#state;
    if (before?.object.keyId === keyId) {
      this.#state = { ...before, expiresAtMs };
      return;
    }
    const uid = crypto.randomUUID();
    let generated: Pick<WriteState, 'transformer' | 'object'> | undefined;
    let failure: Error | undefined;
    try {
      generated = await this.#generate(uid);
    } catch (error) {
      failure = error as Error;
    }
    if (generated?.object.keyId === keyId) {
      this.#state = { ...generated, expiresAtMs };
      return;
    }
    const hashes = `statusKeyIDHash="${labelHash(keyId)}", encryptKeyIDHash="${labelHash(generated?.object.keyId ?? '')}", stateKeyIDHash="${labelHash(before?.object.keyId ?? '')}"`;
    throw new Error(
      `failed to rotate DEK uid="${uid}", useSeed=true, errState=${before ? '<nil>' : 'got unexpected nil transformer'}, errGen=${failure?.message ?? '<nil>'}, ${hashes}, ` +
        `expirationTimestamp=${before ? rfc3339(before.expiresAtMs) : '0001-01-01T00:00:00Z'}`,
    );
  }

  #seed(): Buffer {
    const { observer, random = randomBytes } = this.#options;
    const startMs = performance.now();
    try {
      const seed = random(SEED_BYTES);
      observer.dataKeyGenerated((performance.now() - startMs) / 1000);
      return seed;
    } catch (error) {
      observer.dataKeyFailed();
      throw error;
    }
  }

  async #generate(uid: string): Promise<Pick<WriteState, 'transformer' | 'object'>> {
    const { service } = this.#options;
    const seed = this.#seed();
    const { ciphertext, keyId, annotations } = await service.encrypt(uid, seed).catch((error: Error) => {
      throw new Error(`failed to encrypt DEK, error: ${error.message}`, { cause: error });
    });
    const object: Omit<EncryptedObject, 'encryptedData'> = { keyId, encryptedDekSource: ciphertext, annotations, dekSourceType: DEK_SOURCE_SEED };
    checkEncryptedObject({ ...object, encryptedData: SOME_DATA });
    return { transformer: extendedNonceTransformer(seed), object };
  }
}
