import type { Clock } from '../util/clock.ts';
import { TokenBucket } from '../util/token-bucket.ts';

/** So many attempts may fail at once, and so many more each second. */
const ADDRESS = { burst: 10, perSecond: 0.5 };
const ALL = { burst: 100, perSecond: 10 };
/** Beyond it, the address that failed the longest ago is forgotten: the limit of all still holds. */
const MAX_ADDRESSES = 1_000;

/** How often signing in may fail: authenticators may ask others, and nobody is to guess at the server's cost. */
export class SignInLimit {
  readonly #clock: Clock;
  readonly #all: TokenBucket;
  readonly #byAddress = new Map<string, TokenBucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#all = new TokenBucket(ALL.perSecond, ALL.burst, clock.now());
  }

  /** Takes an attempt, which a success gives back. False: there is none left. */
  take(address: string): boolean {
    const nowMs = this.#clock.now();
    const buckets = [this.#bucketOf(address), this.#all];
    if (!buckets.every((bucket) => bucket.hasOne(nowMs))) return false;
    for (const bucket of buckets) bucket.take(nowMs);
    return true;
  }

  giveBack(address: string): void {
    this.#bucketOf(address).giveBack();
    this.#all.giveBack();
  }

  #bucketOf(address: string): TokenBucket {
    const network = networkOf(address);
    const bucket = this.#byAddress.get(network) ?? new TokenBucket(ADDRESS.perSecond, ADDRESS.burst, this.#clock.now());
    this.#byAddress.delete(network);
    this.#byAddress.set(network, bucket);
    if (this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(this.#byAddress.keys().next().value!);
    return bucket;
  }
}

/** One client of IPv6 has all addresses of a /64 to choose from. */
const networkOf = (address: string): string => (address.includes(':') && !address.includes('.') ? address.split(':', 4).join(':') : address);
