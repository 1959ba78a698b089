import type { Expiry } from './expiry-sweeper.ts';

/** A lease of etcd's API: keys are attached to it and expire with it, unless it is kept alive. */
export interface GrantedLease {
  id: bigint;
  ttlSeconds: number;
  expiresAtMs: number;
}

/** What becomes of leases and of what is attached to them, in one transaction and without a revision of its own. */
export interface LeaseChange {
  /** New, or with another time. */
  granted?: readonly GrantedLease[];
  revoked?: readonly bigint[];
  /** Expiries to be forgotten, and those that are to be kept. */
  ended?: readonly Expiry[];
  added?: readonly Expiry[];
}

/** All that a store knows of leases when it is opened. */
export interface StoredLeases {
  granted: GrantedLease[];
  /** Of keys, attached to a lease or not; their revisions may have passed. */
  expiries: Expiry[];
}
