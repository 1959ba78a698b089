import { createHash } from 'node:crypto';
import { validateDomainName } from '../../../api/domain-name.ts';
import { labelHash } from '../../../api/server-identity.ts';
import { FieldErrors, summarize } from '../../../api/field-errors.ts';
import { extendedNonceTransformer, gcmTransformer } from '../aes.ts';
import { type ImmediateTransformer, type Opened, type ValueContext, aggregated } from '../transformer.ts';
import { type Annotations, DEK_SOURCE_KEY, DEK_SOURCE_SEED, type EncryptedObject, decodeEncryptedObject, encodeEncryptedObject } from './messages.ts';
import type { KmsObserver } from './observer.ts';
import type { KmsService } from './service.ts';

/* KEP-3299: values are encrypted with keys of this server's, whose seed is stored with each, encrypted by the plug-in. */

const MAX_KEY_ID_BYTES = 1024;
const MAX_DEK_SOURCE_BYTES = 1024;
const MAX_ANNOTATIONS_BYTES = 32 * 1024;

/** What values are written with. */
export interface WriteState {
  transformer: ImmediateTransformer;
  object: Omit<EncryptedObject, 'encryptedData'>;
  /** After this, nothing may be written with it: the plug-in has not been well for too long. */
  expiresAtMs: number;
}

export interface EnvelopeOptions {
  provider: string;
  service: KmsService;
  observer: KmsObserver;
  /** Throws while there is none. */
  state(): WriteState;
  now(): number;
}

/** As many seeds as there were keys and starts of servers; more than this are asked for again. */
const MAX_CACHED_SEEDS = 10_000;

export class EnvelopeTransformer implements ImmediateTransformer {
  readonly #options: EnvelopeOptions;
  /** By what names a DEK source. */
  readonly #known = new Map<string, ImmediateTransformer>();
  readonly #asked = new Map<string, Promise<ImmediateTransformer>>();

  constructor(options: EnvelopeOptions) {
    this.#options = options;
  }

  fromStorage(data: Buffer, context: ValueContext): Opened | Promise<Opened> {
    const object = decodeEncryptedObject(data);
    checkEncryptedObject(object);
    const state = this.#options.state();
    const name = nameOf(object);
    const known = this.#known.get(name);
    if (known) return this.#open(known, object, context, state);
    return this.#ask(name, object).then((transformer) => {
      const opened = this.#open(transformer, object, context, state);
      // Only now is it known to be the right one: a plug-in that gave another key once is asked again.
      this.#remember(name, transformer);
      return opened;
    });
  }

  toStorage(data: Buffer, context: ValueContext): Buffer {
    const state = this.#options.state();
    const nowMs = this.#options.now();
    if (nowMs > state.expiresAtMs)
      throw new Error(
        `encryptedDEKSource with keyID hash "${labelHash(state.object.keyId)}" expired at ${rfc3339(state.expiresAtMs)} (current time is ${rfc3339(nowMs)})`,
      );
    this.#remember(nameOf(state.object), state.transformer);
    const encryptedData = state.transformer.toStorage(data, context);
    this.#options.observer.keyUsed('to_storage', this.#options.provider, state.object.keyId);
    const object = { ...state.object, encryptedData };
    checkEncryptedObject(object);
    return encodeEncryptedObject(object);
  }

  #open(transformer: ImmediateTransformer, object: EncryptedObject, context: ValueContext, { object: current }: WriteState): Opened {
    this.#options.observer.keyUsed('from_storage', this.#options.provider, object.keyId);
    // Of the transformers that are kept, none asks anybody.
    const { value } = transformer.fromStorage(object.encryptedData, context) as Opened;
    return { value, isStale: object.keyId !== current.keyId || object.dekSourceType !== current.dekSourceType };
  }

  /** Once for all values that wait for the same. */
  #ask(name: string, object: EncryptedObject): Promise<ImmediateTransformer> {
    let asked = this.#asked.get(name);
    if (asked === undefined) {
      this.#asked.set(name, (asked = this.#decrypt(object).finally(() => this.#asked.delete(name))));
    }
    return asked;
  }

  async #decrypt({ encryptedDekSource, keyId, annotations, dekSourceType }: EncryptedObject): Promise<ImmediateTransformer> {
    const { service, observer } = this.#options;
    observer.cacheMissed();
    let source: Buffer;
    try {
      source = await service.decrypt({ ciphertext: encryptedDekSource, uid: crypto.randomUUID(), keyId, annotations });
    } catch (error) {
      throw new Error(`failed to decrypt DEK, error: ${(error as Error).message}`, { cause: error });
    }
    return dekSourceType === DEK_SOURCE_SEED ? extendedNonceTransformer(source) : gcmTransformer(aesKey(source));
  }

  #remember(name: string, transformer: ImmediateTransformer): void {
    if (this.#known.get(name) === transformer) return;
    if (this.#known.size >= MAX_CACHED_SEEDS) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(name, transformer);
    this.#options.observer.dekSourcesCached(this.#options.provider, this.#known.size);
  }
}

const AES_KEY_BYTES = new Set([16, 24, 32]);

/** The key, if AES has keys of its size. */
export function aesKey(key: Buffer): Buffer {
  if (!AES_KEY_BYTES.has(key.length)) throw new Error(`crypto/aes: invalid key size ${key.length}`);
  return key;
}

/** Tells one DEK source from another: lengths stand before what they measure, so that no two can read the same. */
function nameOf({ dekSourceType, encryptedDekSource, keyId, annotations }: Omit<EncryptedObject, 'encryptedData'>): string {
  const parts = [String(dekSourceType), encryptedDekSource.toString('latin1'), keyId];
  for (const [name, value] of [...annotations].toSorted(([a], [b]) => (a < b ? -1 : 1))) parts.push(name, value.toString('latin1'));
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part, 'utf8');
  return hash.digest('base64');
}

/** Throws where a plug-in answered what upstream would not store. */
export function checkEncryptedObject({ dekSourceType, encryptedData, encryptedDekSource, keyId, annotations }: EncryptedObject): void {
  if (dekSourceType !== DEK_SOURCE_KEY && dekSourceType !== DEK_SOURCE_SEED) throw new Error(`unknown encryptedDEKSourceType: ${dekSourceType}`);
  if (encryptedData.length === 0) throw new Error('encrypted data is empty');
  if (encryptedDekSource.length === 0) throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty');
  if (encryptedDekSource.length > MAX_DEK_SOURCE_BYTES)
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${encryptedDekSource.length} bytes, which exceeds the max size of ${MAX_DEK_SOURCE_BYTES}`,
    );
  const problem = keyIdProblem(keyId);
  if (problem) throw new Error(`failed to validate key id: ${problem.message}`);
  checkAnnotations(annotations);
}

export function keyIdProblem(keyId: string): { code: 'empty' | 'too_long'; message: string } | undefined {
  const sizeBytes = Buffer.byteLength(keyId);
  if (sizeBytes === 0) return { code: 'empty', message: 'keyID is empty' };
  if (sizeBytes > MAX_KEY_ID_BYTES) return { code: 'too_long', message: `keyID is ${sizeBytes} bytes, which exceeds the max size of ${MAX_KEY_ID_BYTES}` };
  return undefined;
}

function checkAnnotations(annotations: Annotations): void {
  const errors = new FieldErrors('annotations');
  let sizeBytes = 0;
  for (const [name, value] of annotations) {
    validateDomainName(name, errors);
    sizeBytes += Buffer.byteLength(name) + value.length;
  }
  const problems = errors.isEmpty ? [] : [new Error(summarize(errors.list))];
  if (sizeBytes > MAX_ANNOTATIONS_BYTES)
    problems.push(new Error(`total size of annotations is ${sizeBytes}, which exceeds the max size of ${MAX_ANNOTATIONS_BYTES}`));
  if (problems.length > 0) throw new Error(`failed to validate annotations: ${aggregated(problems).message}`);
}

export const rfc3339 = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, 'Z');
