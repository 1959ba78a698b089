import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../util/clock.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { CommitConflict, type Put, type Stored } from '../engine.ts';
import type { Expiry } from '../engines/expiry-sweeper.ts';
import type { GrantedLease } from '../engines/lease-change.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { LEASE_EXISTS, LEASE_NOT_FOUND, LEASE_TTL_TOO_LARGE } from './errors.ts';

/** etcd's own limit (server/lease/lessor.go maxTTL). */
const MAX_TTL_SECONDS = 9_000_000_000;
/** Timers of Node know no longer ones. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type LeaseOfPut = NonNullable<Put['lease']>;

/** A lease with the keys that expire with it. */
interface ActiveLease extends GrantedLease {
  readonly expiries: Map<string, Expiry>;
}

/**
 * The leases that clients were granted. Each attached key has an expiry in the store, so that the engine removes it in time, whoever runs it by then; keeping a
 * lease alive moves the expiries of its keys. Unlike etcd's, time goes on while the store is down.
 */
export class LeaseTable {
  readonly #engine: LocalEngine;
  readonly #clock: Clock;
  readonly #leases = new Map<bigint, ActiveLease>();
  readonly #leaseOfKey = new Map<string, ActiveLease>();
  #timer: Timer | undefined;
  #wakesAtMs = Infinity;

  private constructor(engine: LocalEngine, clock: Clock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  static async open(engine: LocalEngine, clock: Clock): Promise<LeaseTable> {
    const table = new LeaseTable(engine, clock);
    const { granted, expiries } = await engine.leases();
    for (const lease of granted) table.#leases.set(lease.id, { ...lease, expiries: new Map() });
    const slice = new TimeSlice();
    for (const expiry of expiries) {
      if (expiry.leaseId === undefined) continue;
      // Expiries of earlier writes of the key are still there, too.
      const { stored } = await engine.read(expiry.key);
      if (stored?.revision === expiry.revision) table.#attach(table.#leases.get(expiry.leaseId), expiry);
      if (slice.isSpent) await slice.next();
    }
    engine.movedExpiries = ({ leaseId, expiresAtMs }) => leaseId !== undefined && (table.#leases.get(leaseId)?.expiresAtMs ?? 0) > expiresAtMs;
    await table.#removeEnded();
    return table;
  }

  close(): void {
    this.#timer?.cancel();
  }

  get ids(): bigint[] {
    return [...this.#leases.keys()];
  }

  get granted(): readonly GrantedLease[] {
    return [...this.#leases.values()];
  }

  /** The lease of a key as it was read; 0n for none. */
  readonly leaseOf = ({ key, revision }: Stored): bigint => {
    const lease = this.#leaseOfKey.get(key);
    return lease?.expiries.get(key)?.revision === revision ? lease.id : 0n;
  };

  /** A number of 0 lets the server choose one. */
  async grant(wantedId: bigint, ttlSeconds: number): Promise<GrantedLease> {
    if (ttlSeconds > MAX_TTL_SECONDS) throw LEASE_TTL_TOO_LARGE;
    const id = wantedId || newId();
    if (this.#leases.has(id)) throw LEASE_EXISTS;
    const seconds = Math.max(ttlSeconds, 1);
    const lease: ActiveLease = { id, ttlSeconds: seconds, expiresAtMs: this.#clock.now() + seconds * 1_000, expiries: new Map() };
    this.#leases.set(id, lease);
    try {
      await this.#engine.changeLeases({ granted: [lease] });
    } catch (error) {
      this.#leases.delete(id);
      throw error;
    }
    this.#wakeAt(lease.expiresAtMs);
    return lease;
  }

  /** How many seconds it has from now on; undefined where there is no such lease. */
  async keepAlive(id: bigint): Promise<number | undefined> {
    const lease = this.#leases.get(id);
    if (!lease || lease.expiresAtMs <= this.#clock.now()) return undefined;
    const ended = [...lease.expiries.values()];
    lease.expiresAtMs = this.#clock.now() + lease.ttlSeconds * 1_000;
    const added = ended.map((expiry) => ({ ...expiry, expiresAtMs: lease.expiresAtMs }));
    for (const expiry of added) lease.expiries.set(expiry.key, expiry);
    await this.#engine.changeLeases({ granted: [lease], ended, added });
    return lease.ttlSeconds;
  }

  /** Removes its keys, then the lease. */
  async revoke(id: bigint): Promise<void> {
    const lease = this.#leases.get(id);
    if (!lease) throw LEASE_NOT_FOUND;
    const expiries = [...lease.expiries.values()];
    await Promise.all(expiries.map((expiry) => this.#removeKey(expiry)));
    this.#forget(lease);
    await this.#engine.changeLeases({ revoked: [id], ended: expiries });
  }

  /** Of a lease that is there: its remaining and its granted seconds, and its keys. */
  timeToLive(id: bigint): { remainingSeconds: number; grantedSeconds: number; keys: string[] } | undefined {
    const lease = this.#leases.get(id);
    if (!lease) return undefined;
    const remainingSeconds = Math.max(Math.ceil((lease.expiresAtMs - this.#clock.now()) / 1_000), 0);
    return { remainingSeconds, grantedSeconds: lease.ttlSeconds, keys: [...lease.expiries.keys()] };
  }

  /** What a write that attaches its key to the lease tells the engine; nothing for a lease of 0. */
  forPut(id: bigint): LeaseOfPut | undefined {
    if (id === 0n) return undefined;
    const lease = this.#leases.get(id);
    if (!lease) throw LEASE_NOT_FOUND;
    return { id, expiresAtMs: lease.expiresAtMs };
  }

  /** The key was written, attached to a lease or to none; or it was removed. A promise where the store is to know more of it. */
  noteWrite(key: string, revision: number, put: LeaseOfPut | undefined): Promise<void> | undefined {
    const before = this.#leaseOfKey.get(key);
    if (before) {
      before.expiries.delete(key);
      this.#leaseOfKey.delete(key);
    }
    const lease = put && this.#leases.get(put.id);
    if (!lease) return undefined;
    const expiry: Expiry = { key, revision, expiresAtMs: lease.expiresAtMs, leaseId: lease.id };
    this.#attach(lease, expiry);
    // It was kept alive while the write was on its way.
    if (lease.expiresAtMs === put.expiresAtMs) return undefined;
    return this.#engine.changeLeases({ ended: [{ ...expiry, expiresAtMs: put.expiresAtMs }], added: [expiry] });
  }

  #attach(lease: ActiveLease | undefined, expiry: Expiry): void {
    if (!lease) return;
    lease.expiries.set(expiry.key, expiry);
    this.#leaseOfKey.set(expiry.key, lease);
  }

  #forget(lease: ActiveLease): void {
    this.#leases.delete(lease.id);
    for (const key of lease.expiries.keys()) this.#leaseOfKey.delete(key);
  }

  async #removeKey({ key, revision }: Expiry): Promise<void> {
    try {
      await this.#engine.commit({ type: 'delete', key, expected: revision });
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
    }
  }

  #wakeAt(expiresAtMs: number): void {
    if (expiresAtMs >= this.#wakesAtMs) return;
    this.#timer?.cancel();
    this.#wakesAtMs = expiresAtMs;
    this.#timer = this.#clock.after(Math.min(Math.max(expiresAtMs - this.#clock.now(), 0), MAX_TIMER_MS), () => {
      this.#wakesAtMs = Infinity;
      // A store that cannot be written says so in its health check; the leases are gone all the same, and their keys with the next sweep.
      void this.#removeEnded().catch(() => undefined);
    });
  }

  /** Their keys are the engine's to remove. */
  async #removeEnded(): Promise<void> {
    const nowMs = this.#clock.now();
    const ended = [...this.#leases.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
    for (const lease of ended) this.#forget(lease);
    let nextMs = Infinity;
    for (const { expiresAtMs } of this.#leases.values()) nextMs = Math.min(nextMs, expiresAtMs);
    if (nextMs < Infinity) this.#wakeAt(nextMs);
    if (ended.length > 0) await this.#engine.changeLeases({ revoked: ended.map(({ id }) => id) });
  }
}

/** Positive numbers of 63 bits, as etcd makes them. */
const newId = (): bigint => (BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()) || 1n) as bigint;
