import { randomBytes } from 'node:crypto';
import { cbcTransformer, gcmTransformer } from '../aes.ts';
import { type ImmediateTransformer, type Opened, type TransformationType, type Transformer, type ValueContext, aggregated } from '../transformer.ts';
import { aesKey } from './envelope.ts';
import type { KmsObserver } from './observer.ts';
import type { KmsV1Service } from './v1-service.ts';

/* KMS v1: each value has a key of its own, which stands before it, encrypted by the plug-in, with its length in two bytes. */

const KEY_BYTES = 32;
const LENGTH_BYTES = 2;
const MAX_ENCRYPTED_KEY_BYTES = 0xff_ff;
/** A store that is read for the first time has a key to ask for with every value: so many questions are with the plug-in at once. */
const MAX_DECRYPTIONS = 32;

export interface V1EnvelopeOptions {
  service: KmsV1Service;
  observer: KmsObserver;
  /** How many keys are remembered; none where it is not positive. */
  cacheSize: number;
  now(): number;
  /** Makes keys; throws where the machine has no randomness to give. */
  random?: (sizeBytes: number) => Buffer;
}

export class V1EnvelopeTransformer implements Transformer {
  readonly #options: V1EnvelopeOptions;
  /** By the encrypted key in base64; the one that was not used for the longest first. */
  readonly #known = new Map<string, ImmediateTransformer>();
  readonly #lastArrivalMs = { from_storage: Number.NaN, to_storage: Number.NaN };
  readonly #turns = new Turns(MAX_DECRYPTIONS);

  constructor(options: V1EnvelopeOptions) {
    this.#options = options;
  }

  fromStorage(data: Buffer, context: ValueContext): Opened | Promise<Opened> {
    this.#arrived('from_storage');
    const { encryptedKey, encryptedData } = parts(data);
    const name = encryptedKey.toString('base64');
    const known = this.#get(name);
    if (known) return known.fromStorage(encryptedData, context);
    if (this.#options.cacheSize > 0) this.#options.observer.cacheMissed();
    return this.#turns
      .run(() => this.#options.service.decrypt(encryptedKey))
      .then((key) => this.#add(name, valueTransformer(aesKey(key))).fromStorage(encryptedData, context));
  }

  async toStorage(data: Buffer, context: ValueContext): Promise<Buffer> {
    this.#arrived('to_storage');
    const key = this.#newKey();
    const encryptedKey = await this.#options.service.encrypt(key);
    const encryptedData = this.#add(encryptedKey.toString('base64'), valueTransformer(key)).toStorage(data, context);
    if (encryptedKey.length > MAX_ENCRYPTED_KEY_BYTES)
      throw new Error(`cryptobyte: pending child length ${encryptedKey.length} exceeds ${LENGTH_BYTES}-byte length prefix`);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(encryptedKey.length);
    return Buffer.concat([length, encryptedKey, encryptedData]);
  }

  #newKey(): Buffer {
    const { observer, random = randomBytes } = this.#options;
    const startMs = performance.now();
    try {
      const key = random(KEY_BYTES);
      observer.dataKeyGenerated((performance.now() - startMs) / 1000);
      return key;
    } catch (error) {
      observer.dataKeyFailed();
      throw error;
    }
  }

  #get(name: string): ImmediateTransformer | undefined {
    const known = this.#known.get(name);
    if (!known) return undefined;
    this.#known.delete(name);
    this.#known.set(name, known);
    return known;
  }

  #add(name: string, transformer: ImmediateTransformer): ImmediateTransformer {
    const { cacheSize, observer } = this.#options;
    if (cacheSize <= 0) return transformer;
    this.#known.delete(name);
    if (this.#known.size >= cacheSize) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(name, transformer);
    observer.dekCacheFilled(this.#known.size / cacheSize);
    return transformer;
  }

  #arrived(type: TransformationType): void {
    const nowMs = this.#options.now();
    const lastMs = this.#lastArrivalMs[type];
    this.#options.observer.transformationArrived(type, Number.isNaN(lastMs) ? 0 : (nowMs - lastMs) / 1000);
    this.#lastArrivalMs[type] = nowMs;
  }
}

function parts(data: Buffer): { encryptedKey: Buffer; encryptedData: Buffer } {
  const end = data.length < LENGTH_BYTES ? Infinity : LENGTH_BYTES + data.readUInt16BE(0);
  if (end > data.length) throw new Error('invalid data encountered by envelope transformer: failed to read uint16 length prefixed data');
  return { encryptedKey: data.subarray(LENGTH_BYTES, end), encryptedData: data.subarray(end) };
}

/** Writes AES-GCM; reads AES-CBC too, which was written until v1.24. */
function valueTransformer(key: Buffer): ImmediateTransformer {
  const [gcm, cbc] = [gcmTransformer(key), cbcTransformer(key)];
  return {
    fromStorage(data, context) {
      const errors: Error[] = [];
      for (const [isStale, transformer] of [[false, gcm] as const, [true, cbc] as const]) {
        try {
          return { ...(transformer.fromStorage(data, context) as Opened), isStale };
        } catch (error) {
          errors.push(error as Error);
        }
      }
      throw aggregated(errors);
    },
    toStorage: (data, context) => gcm.toStorage(data, context),
  };
}

/** Runs so many at once; the others wait for their turn. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
