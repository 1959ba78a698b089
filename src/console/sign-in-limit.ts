import type { Clock } from '../util/clock.ts';

/** So many attempts may fail at once, and so many more each second. */
const ADDRESS = { burst: 10, perSecond: 0.5 };
const ALL = { burst: 100, perSecond: 10 };
/** Beyond it, the address that failed the longest ago is forgotten: the limit of all still holds. */
const MAX_ADDRESSES = 1_000;

interface Bucket {
  left: number;
  atMs: number;
}

/** How often signing in may fail: authenticators may ask others, and nobody is to guess at the server's cost. */
export class SignInLimit {
  readonly #clock: Clock;
  readonly #all: Bucket;
  readonly #byAddress = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = { left: ALL.burst, atMs: clock.now() };
  }

  /** Takes an attempt, which a success gives back. False: there is none left. */
  take(address: string): boolean {
    const ofAddress = this.#bucketOf(networkOf(address));
    if (this.#refilled(ofAddress, ADDRESS) < 1 || this.#refilled(this.#all, ALL) < 1) return false;
    ofAddress.left--;
    this.#all.left--;
    return true;
  }

  giveBack(address: string): void {
    const ofAddress = this.#bucketOf(networkOf(address));
    ofAddress.left = Math.min(ADDRESS.burst, ofAddress.left + 1);
    this.#all.left = Math.min(ALL.burst, this.#all.left + 1);
  }

  #refilled(bucket: Bucket, { burst, perSecond }: typeof ALL): number {
    const nowMs = this.#clock.now();
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    return bucket.left;
  }

  #bucketOf(network: string): Bucket {
    const bucket = this.#byAddress.get(network) ?? { left: ADDRESS.burst, atMs: this.#clock.now() };
    this.#byAddress.delete(network);
    this.#byAddress.set(network, bucket);
    if (this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(this.#byAddress.keys().next().value!);
    return bucket;
  }
}

/** One client of IPv6 has all addresses of a /64 to choose from. */
const networkOf = (address: string): string => (address.includes(':') && !address.includes('.') ? address.split(':', 4).join(':') : address);
