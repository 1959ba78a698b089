import { createHmac } from 'node:crypto';
import { isJsonObject, ownValue, parseOwnJson, stringifyJson } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import type { KeptVersion } from './history-reader.ts';
import type { GuardedChange, HandedChange, ValueGuard } from './kept-history.ts';

/** Encrypts values as the store's own are. */
export interface ValueEncryption {
  /** Undefined where values of this key are stored as they are. */
  encrypt(key: string, value: Buffer): Promise<Buffer | undefined>;
  decrypt(key: string, value: Buffer): Promise<Buffer>;
}

export interface SecretGuardOptions {
  /** --history-secrets */
  mode: 'keys' | 'hashed' | 'encrypted';
  isSecret(key: string): boolean;
  /** Of this history: hashes of two histories cannot be compared. */
  hashKey: Buffer;
  /** The JSON of a stored value. */
  decode(key: string, value: Buffer): Buffer;
  /** Where the store is encrypted. */
  encryption?: ValueEncryption | undefined;
}

/** Holds a whole manifest, values included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Keeps values of Secrets out of the history: in place of each stands when it was set, or a hash of it, so that a change of it is seen and nothing else. What
 * the store encrypts is encrypted here too.
 */
export class SecretGuard implements ValueGuard {
  readonly #options: SecretGuardOptions;

  constructor(options: SecretGuardOptions) {
    this.#options = options;
  }

  isPlain(key: string): boolean {
    return this.#options.encryption === undefined && !this.#options.isSecret(key);
  }

  /** Whether values stand masked in what is kept of this key. */
  isMasked(key: string): boolean {
    return this.#options.isSecret(key) && this.#options.mode !== 'encrypted';
  }

  async guard(change: HandedChange, before: KeptVersion | undefined): Promise<GuardedChange> {
    const { key, value, previous } = change;
    if (this.isMasked(key)) return this.#masked(change, before);
    const { encryption, isSecret } = this.#options;
    const encrypted = value && (await encryption?.encrypt(key, value));
    const encryptedBefore = previous && (await encryption?.encrypt(key, previous));
    const isEncrypted = encrypted !== undefined || encryptedBefore !== undefined;
    // Whoever asked for encryption and has it no longer gets less in the history, not more.
    if (!isEncrypted && isSecret(key)) return this.#masked(change, before);
    return isEncrypted ? { previous: encryptedBefore, value: encrypted, isEncrypted } : { previous, value, isEncrypted };
  }

  decrypt(key: string, value: Buffer): Promise<Buffer> {
    const { encryption } = this.#options;
    if (!encryption) return Promise.reject(new Error('it was encrypted, and --encryption-provider-config names no provider'));
    return encryption.decrypt(key, value);
  }

  /** A Secret as it is shown where what is kept of it is masked. */
  mask(json: Buffer, revision: number): Buffer {
    return this.#mask(parseOwnJson(json), undefined, undefined, revision);
  }

  #masked({ key, value, previous, revision, previousRevision }: HandedChange, before: KeptVersion | undefined): GuardedChange {
    const read = (stored: Buffer | undefined): JsonObject | undefined => stored && (parseOwnJson(this.#options.decode(key, stored)) as JsonObject);
    const plain = read(previous);
    const masked = before && !before.isEncrypted ? before.value : plain && this.#mask(plain, undefined, undefined, previousRevision);
    const next = read(value);
    return { previous: masked, value: next && this.#mask(next, plain, masked && parseOwnJson(masked), revision), isEncrypted: false };
  }

  /** Values that are as they were keep what stands for them. */
  #mask(object: Json, plain: Json | undefined, masked: Json | undefined, revision: number): Buffer {
    const secret = { ...(object as JsonObject) };
    const data = ownValue(secret, 'data');
    if (isJsonObject(data)) secret['data'] = this.#maskMembers(data, memberOf(plain, 'data'), memberOf(masked, 'data'), revision);
    const metadata = ownValue(secret, 'metadata');
    const annotations = memberOf(metadata, 'annotations');
    if (isJsonObject(annotations) && LAST_APPLIED in annotations) {
      const only = { [LAST_APPLIED]: annotations[LAST_APPLIED]! };
      const [plainOnes, maskedOnes] = [plain, masked].map((version) => memberOf(memberOf(version, 'metadata'), 'annotations'));
      secret['metadata'] = {
        ...(metadata as JsonObject),
        annotations: { ...annotations, ...this.#maskMembers(only, plainOnes, maskedOnes, revision, (text) => text) },
      };
    }
    return Buffer.from(stringifyJson(secret));
  }

  #maskMembers(
    members: JsonObject,
    plain: Json | undefined,
    masked: Json | undefined,
    revision: number,
    encode = (text: string): string => Buffer.from(text).toString('base64'),
  ): JsonObject {
    return Object.fromEntries(
      Object.entries(members).map(([key, value]) => {
        const former = isJsonObject(plain) && ownValue(plain, key) === value ? memberOf(masked, key) : undefined;
        return [key, former ?? encode(this.#markOf(value ?? null, revision))];
      }),
    );
  }

  #markOf(value: Json, revision: number): string {
    if (this.#options.mode === 'hashed') return `hmac-sha256:${createHmac('sha256', this.#options.hashKey).update(String(value)).digest('hex')}`;
    return `not kept: as of resourceVersion ${revision}`;
  }
}

const memberOf = (value: Json | undefined, key: string): Json | undefined => (isJsonObject(value) ? ownValue(value, key) : undefined);
