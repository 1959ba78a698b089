import type { Clock } from '../../../util/clock.ts';
import type { LeaseId } from './messages.ts';

export interface LeaseOptions {
  /** For how long objects of one time to live share a lease (--lease-reuse-duration-seconds). */
  reuseSeconds: number;
  clock: Clock;
  grant: (ttlSeconds: number) => Promise<LeaseId>;
  /** A lease has been filled, or has become too old; it is told how many objects it got. */
  onRetired?: ((objects: number) => void) | undefined;
}

interface Lease {
  id: Promise<LeaseId>;
  expiresAtMs: number;
  objects: number;
}

/** As upstream's lease manager (apiserver/pkg/storage/etcd3/lease_manager.go). */
const MAX_OBJECTS = 1_000;
const MAX_REUSE_SHARE = 0.05;

/**
 * Leases cost etcd more than keys, so objects that live equally long share one: each is granted for a little longer than asked, and serves
 * until only the time asked for is left.
 */
export class Leases {
  readonly #options: LeaseOptions;
  readonly #byTtl = new Map<number, Lease>();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  async leaseFor(ttlSeconds: number): Promise<LeaseId> {
    const { clock, reuseSeconds, grant, onRetired } = this.#options;
    const known = this.#byTtl.get(ttlSeconds);
    if (known && known.objects < MAX_OBJECTS && clock.now() + ttlSeconds * 1_000 < known.expiresAtMs) {
      known.objects++;
      return known.id;
    }
    if (known) onRetired?.(known.objects);
    const grantedSeconds = ttlSeconds + Math.min(Math.floor(ttlSeconds * MAX_REUSE_SHARE), reuseSeconds);
    const lease: Lease = { id: grant(grantedSeconds), expiresAtMs: clock.now() + grantedSeconds * 1_000, objects: 1 };
    this.#keep(ttlSeconds, lease);
    return lease.id;
  }

  #keep(ttlSeconds: number, lease: Lease): void {
    // Times to live are few; a client that chose a new one each time must not fill memory.
    if (this.#byTtl.size >= MAX_OBJECTS) this.#byTtl.clear();
    this.#byTtl.set(ttlSeconds, lease);
    lease.id.catch(() => {
      if (this.#byTtl.get(ttlSeconds) === lease) this.#byTtl.delete(ttlSeconds);
    });
  }
}
