import { createPublicKey, type KeyObject } from 'node:crypto';
import { type PublicKey, type PublicKeySource, hasUsualSize, keysById } from '../../authentication/public-keys.ts';
import { type Clock, systemClock, type Timer } from '../../util/clock.ts';
import { quote } from '../../util/go-quote.ts';
import { type SlicedWork, runInSlices } from '../../util/time-slice.ts';
import type { FetchKeysResponse, FetchedKey, Timestamp } from './messages.ts';
import type { SignerObserver } from './observer.ts';
import type { SignerService } from './service.ts';

export interface FetchedKeysOptions {
  service: SignerService;
  observer: SignerObserver;
  /** Told when the keys could not be fetched; those from before stay. */
  report(error: Error): void;
  clock?: Clock;
  /** How long one fetch may take. */
  timeoutMs?: number;
  /** How long after a failed fetch the next one follows. */
  retryAfterMs?: number;
}

const FETCH_TIMEOUT_MS = 60_000;
const RETRY_AFTER_MS = 10_000;
const MAX_KEY_ID_BYTES = 1024;
/** As of OpenID issuers. To read one takes some ten microseconds, and a token that names none is checked with all. */
const MAX_KEYS = 256;

interface KeySet {
  keys: readonly PublicKey[];
  /** When they were current, says the signer. */
  asOfSeconds: number;
  refreshAtMs: number;
}

/**
 * The public keys that an external signer tells (pkg/serviceaccount/externaljwt/plugin/keycache.go). They are fetched again when the signer's own hint says
 * so, and whenever a token names a key that is not among them. While that fails, the last ones that came are used.
 */
export class FetchedKeys implements PublicKeySource {
  readonly #options: Required<FetchedKeysOptions>;
  #set: KeySet = { keys: [], asOfSeconds: 0, refreshAtMs: 0 };
  #byId: ReadonlyMap<string, readonly PublicKey[]> = new Map();
  #generation = 0;
  #fetching: Promise<void> | undefined;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: FetchedKeysOptions) {
    this.#options = { clock: systemClock, timeoutMs: FETCH_TIMEOUT_MS, retryAfterMs: RETRY_AFTER_MS, ...options };
  }

  /** Fetches the first keys, and goes on from there. Throws where they do not come in time or cannot be used. */
  async start(): Promise<void> {
    try {
      await this.#fetch();
    } catch (error) {
      throw new Error(`while initially filling key cache: while performing initial cache fill: ${(error as Error).message}`, { cause: error });
    }
    this.#refreshAt(this.#set.refreshAtMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  get current(): readonly PublicKey[] {
    return this.#set.keys;
  }

  get generation(): number {
    return this.#generation;
  }

  get maxAgeSeconds(): number {
    return Math.max(0, Math.floor((this.#set.refreshAtMs - this.#options.clock.now()) / 1000));
  }

  find(id: string): readonly PublicKey[] | Promise<readonly PublicKey[]> {
    const known = id === '' ? this.#set.keys : this.#byId.get(id);
    return known ?? this.#findAnew(id);
  }

  async #findAnew(id: string): Promise<readonly PublicKey[]> {
    try {
      await this.#fetch();
    } catch (error) {
      this.#options.report(error as Error);
    }
    return this.#byId.get(id) ?? [];
  }

  #refreshAt(dueMs: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    // Timers end early where the wait is longer than they can be.
    this.#timer = clock.after(dueMs - clock.now(), () => (clock.now() < dueMs ? this.#refreshAt(dueMs) : void this.#refresh()));
  }

  async #refresh(): Promise<void> {
    const { clock, report, retryAfterMs } = this.#options;
    try {
      await this.#fetch();
      this.#refreshAt(this.#set.refreshAtMs);
    } catch (error) {
      if (!this.#isClosed) report(error as Error);
      this.#refreshAt(clock.now() + retryAfterMs);
    }
  }

  /** All who ask meanwhile wait for the same answer. */
  #fetch(): Promise<void> {
    this.#fetching ??= this.#fetchOnce().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchOnce(): Promise<void> {
    const { service, observer, clock, timeoutMs } = this.#options;
    let next: KeySet;
    try {
      next = await keySetOf(await fetched(service, timeoutMs), clock.now());
    } catch (error) {
      observer.keysFetched(error as Error);
      throw new Error(`while fetching token verification keys: ${(error as Error).message}`, { cause: error });
    }
    observer.keysFetched();
    observer.keysAsOf(next.asOfSeconds);
    const hasChanged = differs(this.#set, next);
    this.#set = next;
    this.#byId = keysById(next.keys);
    if (hasChanged) this.#generation++;
  }
}

async function fetched(service: SignerService, timeoutMs: number): Promise<FetchKeysResponse> {
  try {
    return await service.fetchKeys({ timeoutMs });
  } catch (error) {
    throw new Error(`while getting externally supported jwt signing keys: ${(error as Error).message}`, { cause: error });
  }
}

async function keySetOf({ keys, dataTimestamp, refreshHintSeconds }: FetchKeysResponse, nowMs: number): Promise<KeySet> {
  if (refreshHintSeconds <= 0) throw new Error(`found invalid refresh hint (${refreshHintSeconds}s)`);
  if (keys.length === 0) throw new Error('found no keys');
  if (keys.length > MAX_KEYS) throw new Error(`found more than ${MAX_KEYS} keys`);
  const asOfSeconds = secondsOf(dataTimestamp);
  return { asOfSeconds, keys: await runInSlices(publicKeysOf(keys)), refreshAtMs: nowMs + Number(refreshHintSeconds) * 1000 };
}

function* publicKeysOf(keys: readonly FetchedKey[]): SlicedWork<PublicKey[]> {
  const found: PublicKey[] = [];
  for (const key of keys) {
    found.push(publicKeyOf(key));
    yield;
  }
  return found;
}

/** From the year 1 to 9999 (google/protobuf/timestamp.proto). */
const [MIN_SECONDS, MAX_SECONDS] = [-62_135_596_800, 253_402_300_799];

function secondsOf(timestamp: Timestamp | undefined): number {
  if (!timestamp) throw new Error('invalid data timestamp: proto: invalid nil Timestamp');
  const { seconds, nanos } = timestamp;
  const problem =
    seconds < MIN_SECONDS ? 'before 0001-01-01' : seconds > MAX_SECONDS ? 'after 9999-12-31' : nanos < 0 || nanos >= 1e9 ? 'has out-of-range nanos' : '';
  if (problem !== '') throw new Error(`invalid data timestamp: proto: timestamp (seconds:${seconds} nanos:${nanos}) ${problem}`);
  return Number(seconds) + nanos / 1e9;
}

function publicKeyOf({ keyId, key, isUnlisted }: FetchedKey): PublicKey {
  const idBytes = Buffer.byteLength(keyId);
  if (idBytes === 0 || idBytes > MAX_KEY_ID_BYTES) throw new Error(`found invalid public key id ${quote(keyId)}`);
  if (key.length === 0) throw new Error('found empty public key');
  return { id: keyId, key: parsedKey(key), isUnlisted };
}

function parsedKey(der: Buffer): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch (error) {
    throw new Error(`while parsing external public keys: ${(error as Error).message}`, { cause: error });
  }
  if (!hasUsualSize(key)) throw new Error('while parsing external public keys: found a key of an unusual size');
  return key;
}

const differs = ({ keys: before }: KeySet, { keys: after }: KeySet): boolean =>
  before.length !== after.length ||
  before.some(({ id, key, isUnlisted }, i) => id !== after[i]!.id || isUnlisted !== after[i]!.isUnlisted || !key.equals(after[i]!.key));
