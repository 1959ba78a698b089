import { createHash } from 'node:crypto';
import type { ServerCall, ServerCallHandler } from '../../grpc/server.ts';
import { GrpcCode, GrpcError } from '../../grpc/status.ts';
import type { Clock } from '../../util/clock.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import type { Stored } from '../engine.ts';
import type { GrantedLease } from '../engines/lease-change.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { type BoltBucket, BoltFile, entriesOf } from './bolt-file.ts';
import type { LeaseTable } from './leases.ts';
import { RAFT_TERM, encodeSnapshotPiece, encodeStoredLease } from './responses.ts';
import { StateFile } from './state-file.ts';

export interface SnapshotParts {
  engine: LocalEngine;
  leases: LeaseTable;
  clock: Clock;
  /** For a file that is as large as the snapshot, and gone with it. */
  folder: string;
  /** The version of etcd whose file this is. */
  version: string;
}

const PIECE_BYTES = 64 * 1024;
/** Of keys with a time to live and without a lease: those that end in the same minute have one. Its number is the minute, counted from here on. */
const MADE_LEASES = 0x6269_6e00_0000_0000n;
const MADE_LEASE_MS = 60_000;

/** The call that answers with all of the store, as a file of etcd's, and then with the SHA-256 of the file, which clients check. */
export class SnapshotStream implements ServerCallHandler {
  readonly #call: ServerCall;
  readonly #parts: SnapshotParts;
  #isBegun = false;
  #isOver = false;
  #goOn: (() => void) | undefined;

  constructor(call: ServerCall, parts: SnapshotParts) {
    this.#call = call;
    this.#parts = parts;
  }

  onMessage(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    void this.#answer().then(
      () => this.#call.end(),
      (error: Error) => this.#call.end(error instanceof GrpcError ? error : new GrpcError(GrpcCode.unavailable, `cannot make a snapshot: ${error.message}`)),
    );
  }

  onHalfClose(): void {
    if (!this.#isBegun) this.#call.end();
  }

  onDrain(): void {
    this.#goOn?.();
  }

  onEnd(): void {
    this.#isOver = true;
    this.#goOn?.();
  }

  async #answer(): Promise<void> {
    const { engine, leases, folder } = this.#parts;
    const stored = new StoredLeases(this.#parts);
    await stored.read();
    const state = await StateFile.collect({ engine, leaseOf: stored.leaseOf, folder, isOver: () => this.#isOver });
    try {
      for (const lease of leases.granted) stored.add(lease);
      await this.#send(new BoltFile(bucketsOf(state, stored.entries())), state.revision);
    } finally {
      await state.close();
    }
  }

  async #send(file: BoltFile, revision: number): Promise<void> {
    const hash = createHash('sha256');
    const slice = new TimeSlice();
    let pages: Buffer[] = [];
    let sizeBytes = 0;
    let remainingBytes = file.sizeBytes;
    for (const page of file.pages()) {
      pages.push(page);
      sizeBytes += page.length;
      if (sizeBytes < PIECE_BYTES && sizeBytes < remainingBytes) continue;
      const piece = Buffer.concat(pages);
      hash.update(piece);
      remainingBytes -= sizeBytes;
      await this.#sendPiece(revision, remainingBytes, piece);
      if (this.#isOver) return;
      pages = [];
      sizeBytes = 0;
      if (slice.isSpent) await slice.next();
    }
    await this.#sendPiece(revision, 0, hash.digest());
  }

  async #sendPiece(revision: number, remainingBytes: number, piece: Buffer): Promise<void> {
    if (this.#isOver || this.#call.send(encodeSnapshotPiece(revision, this.#parts.version, remainingBytes, piece))) return;
    await new Promise<void>((goOn) => (this.#goOn = goOn));
  }
}

/** The leases of a snapshot. Keys that expire without one, as `binnacle serve` writes them, are given some: etcd knows nothing else. */
class StoredLeases {
  readonly #parts: SnapshotParts;
  readonly #leases = new Map<bigint, GrantedLease>();
  /** Of keys without a lease of a client's, with the revision that they belong to. */
  readonly #made = new Map<string, { revision: number; leaseId: bigint }>();

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  async read(): Promise<void> {
    const { engine, leases } = this.#parts;
    for (const lease of leases.granted) this.add(lease);
    for (const { key, revision, expiresAtMs, leaseId = 0n } of (await engine.leases()).expiries) {
      if (this.#leases.has(leaseId)) continue;
      const minute = Math.ceil(expiresAtMs / MADE_LEASE_MS);
      const made = MADE_LEASES + BigInt(minute);
      this.add({ id: made, ttlSeconds: this.#secondsUntil(minute * MADE_LEASE_MS), expiresAtMs: minute * MADE_LEASE_MS });
      this.#made.set(key, { revision, leaseId: made });
    }
  }

  add(lease: GrantedLease): void {
    this.#leases.set(lease.id, lease);
  }

  readonly leaseOf = (item: Stored): bigint => {
    const made = this.#made.get(item.key);
    return this.#parts.leases.leaseOf(item) || (made?.revision === item.revision ? made.leaseId : 0n);
  };

  entries(): Map<Buffer, Buffer> {
    const entries = new Map<Buffer, Buffer>();
    for (const { id, ttlSeconds, expiresAtMs } of this.#leases.values()) {
      entries.set(uint64(BigInt.asUintN(64, id)), encodeStoredLease(id, ttlSeconds, this.#secondsUntil(expiresAtMs)));
    }
    return entries;
  }

  #secondsUntil(atMs: number): number {
    return Math.max(Math.ceil((atMs - this.#parts.clock.now()) / 1_000), 1);
  }
}

/** As etcd 3.5 has them (server/mvcc/buckets). There are no members and no version of a cluster in it: whoever restores it says which there are to be. */
function bucketsOf(state: StateFile, leases: ReadonlyMap<Buffer, Buffer>): BoltBucket[] {
  const revision = uint64(BigInt(state.revision));
  // What is older than the state is not in the file: a watch from there on must fail.
  const compacted = Buffer.concat([revision, Buffer.from('_'), uint64(0n)]);
  const named = (values: Record<string, Buffer>): Map<Buffer, Buffer> => new Map(Object.entries(values).map(([name, value]) => [Buffer.from(name), value]));
  const meta = { consistent_index: revision, term: uint64(BigInt(RAFT_TERM)), scheduledCompactRev: compacted, finishedCompactRev: compacted };
  const full: Record<string, BoltBucket['entries']> = {
    key: state,
    lease: entriesOf(leases),
    meta: entriesOf(named(meta)),
  };
  const empty = ['alarm', 'auth', 'authRoles', 'authUsers', 'cluster', 'members', 'members_removed'].map((name) => ({ name, entries: entriesOf(new Map()) }));
  return [...Object.entries(full).map(([name, entries]) => ({ name, entries })), ...empty];
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
