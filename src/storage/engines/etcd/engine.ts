import { type Clock, systemClock } from '../../../util/clock.ts';
import {
  type StorageChange,
  CommitConflict,
  Compacted,
  type Engine,
  type RangeResult,
  type RangeOptions,
  StorageUnavailable,
  type Stored,
  type StoredEvent,
  type Subscription,
} from '../../engine.ts';
import { GrpcCode, GrpcError } from '../../../grpc/status.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../../util/semantic-version.ts';
import { compareKeys, prefixEnd } from '../../key-order.ts';
import { PageSize } from '../../page-size.ts';
import { PassingMap } from '../../passing-map.ts';
import { EtcdClient, type EtcdClientOptions } from './client.ts';
import { CompactedRevision } from './compacted-revision.ts';
import { Compactor } from './compactor.ts';
import { isCompacted, isFutureRevision, storageError } from './errors.ts';
import { EtcdHealthCheck } from './health-check.ts';
import { Leases } from './leases.ts';
import {
  COMPACT,
  KEYSPACE_START,
  LEASE_GRANT,
  type LeaseId,
  RANGE,
  type RangeRequest,
  type RangeResponse,
  STATUS,
  TXN,
  decodeLease,
  decodeRange,
  decodeStatus,
  decodeTxn,
  encodeCompaction,
  encodeLeaseGrant,
  encodeRange,
  encodeTxn,
} from './messages.ts';
import { type EtcdObserver, SILENT } from './observer.ts';
import { unreachable } from './unreachable.ts';
import { EtcdWatch } from './watch.ts';

export interface EtcdEngineOptions extends EtcdClientOptions {
  /** `/registry`: the health check reads a key under it (--etcd-prefix). */
  prefix?: string;
  clock?: Clock;
  /** --lease-reuse-duration-seconds */
  leaseReuseSeconds?: number;
  /** --etcd-compaction-interval; 0: others compact. */
  compactionIntervalMs?: number;
  /**
   * Health is what the store's own health service says, which knows more than that it can be read (a full disk). Default: upstream's check, a read: etcd's service
   * says little.
   */
  hasHealthService?: boolean;
  observer?: EtcdObserver;
}

/** Of gRPC's own protocol for it (https://github.com/grpc/grpc/blob/master/doc/health-checking.md). */
const HEALTH = '/grpc.health.v1.Health/Check';

const STATUS_TIMEOUT_MS = 2_000;
const LEASE_REUSE_SECONDS = 60;

/**
 * Throws StorageUnavailable when no member answers. Which members are old decides how watches are made: see EtcdWatch; one that cannot be asked
 * counts as old.
 */
export async function openEtcdEngine(options: EtcdEngineOptions): Promise<EtcdEngine> {
  const client = new EtcdClient(options);
  const asked = await Promise.allSettled(
    client.endpoints.map(async (_, index) => decodeStatus(await client.askMember(index, STATUS, Buffer.alloc(0), STATUS_TIMEOUT_MS)).version),
  );
  const failures = asked.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  if (failures.length > 0 && failures.length === asked.length) {
    client.close();
    throw unreachable(options.endpoints, failures);
  }
  const trustsProgress = asked.every((answer) => answer.status === 'fulfilled' && hasSafeProgress(answer.value));
  return new EtcdEngine(client, trustsProgress, options);
}

/** Objects in an etcd cluster, which others may write too, with upstream's keys. */
export class EtcdEngine implements Engine {
  readonly isSingleWriter = false;
  readonly #client: EtcdClient;
  readonly #trustsProgress: boolean;
  readonly #clock: Clock;
  readonly #leases: Leases;
  readonly #compacted: CompactedRevision;
  readonly #compactor: Compactor | undefined;
  readonly #health: EtcdHealthCheck;
  readonly #observer: EtcdObserver;
  readonly #watches = new Set<EtcdWatch>();
  /** The last commit of each key that is under way: etcd takes calls of one connection in any order. */
  readonly #lastCommits = new PassingMap<Promise<number>>();
  readonly #currentRequest: Buffer;
  #isClosed = false;

  constructor(client: EtcdClient, trustsProgress: boolean, options: EtcdEngineOptions) {
    const {
      prefix = '/registry',
      clock = systemClock,
      leaseReuseSeconds = LEASE_REUSE_SECONDS,
      compactionIntervalMs = 0,
      hasHealthService = false,
      observer = SILENT,
    } = options;
    this.#client = client;
    this.#trustsProgress = trustsProgress;
    this.#clock = clock;
    this.#observer = observer;
    this.#leases = new Leases({
      reuseSeconds: leaseReuseSeconds,
      clock,
      grant: (ttlSeconds) => this.#grantLease(ttlSeconds),
      onRetired: observer.onLeaseRetired,
    });
    this.#compacted = new CompactedRevision(client, clock);
    this.#compactor = compactionIntervalMs > 0 ? new Compactor(client, compactionIntervalMs, clock, this.#compacted) : undefined;
    this.#currentRequest = encodeRange({ key: `${prefix}/health`, keysOnly: true });
    const question = hasHealthService ? { path: HEALTH, request: Buffer.alloc(0) } : { path: RANGE, request: this.#currentRequest };
    this.#health = new EtcdHealthCheck(client, question, clock);
  }

  get oldestRevision(): number {
    return this.#compacted.revision;
  }

  async get(key: string): Promise<Stored | undefined> {
    const { items } = await this.#range('get', { key });
    return items[0];
  }

  async range(prefix: string, { after, limit, revision }: RangeOptions = {}): Promise<RangeResult> {
    const isPast = after !== undefined && compareKeys(after, prefix) >= 0;
    const key = isPast ? `${after}\0` : prefix || KEYSPACE_START;
    const end = prefixEnd(prefix) ?? KEYSPACE_START;
    const at = revision === undefined ? {} : { revision };
    if (limit === undefined) return this.#rangeAll(key, end, revision);
    const response = await this.#range('list', limit === 0 ? { key, end, countOnly: true, ...at } : { key, end, limit, ...at });
    return { items: response.items, revision: revision ?? response.revision, remaining: response.count - response.items.length };
  }

  commit(change: StorageChange): Promise<number> {
    const { key } = change;
    if (this.#isClosed) return Promise.reject(closedError());
    const before = this.#lastCommits.get(key);
    const apply = (): Promise<number> => this.#apply(change);
    const outcome = before ? before.then(apply, apply) : apply();
    this.#lastCommits.set(key, outcome);
    const forget = (): void => {
      if (this.#lastCommits.get(key) === outcome) this.#lastCommits.delete(key);
    };
    outcome.then(forget, forget);
    return outcome;
  }

  watch(
    prefix: string,
    from: number,
    sink: (events: StoredEvent[]) => void,
    onError?: (error: Error) => void,
    onProgress?: (revision: number) => void,
  ): Subscription {
    this.#assertOpen();
    const watch = new EtcdWatch({
      client: this.#client,
      clock: this.#clock,
      trustsProgress: this.#trustsProgress,
      prefix,
      from,
      sink,
      onError: (error) => {
        this.#watches.delete(watch);
        onError?.(error);
      },
      onProgress,
      onMemberProgress: this.#observer.onProgress,
    });
    this.#watches.add(watch);
    return {
      close: () => {
        this.#watches.delete(watch);
        watch.close();
      },
      requestProgress: () => watch.requestProgress(),
    };
  }

  async currentRevision(): Promise<number> {
    this.#assertOpen();
    return decodeRange(await this.#read(RANGE, this.#currentRequest)).revision;
  }

  async compact(revision: number): Promise<void> {
    // etcd keeps the state of the revision that it compacts to.
    const to = Math.min(revision - 1, await this.currentRevision());
    try {
      await this.#client.write(COMPACT, encodeCompaction(to));
    } catch (error) {
      if (!isCompacted(error)) throw translated(error);
    }
    this.#compacted.raise(to);
  }

  async checkHealth(timeoutMs?: number): Promise<void> {
    this.#assertOpen();
    await this.#health.check(timeoutMs);
  }

  /** Bytes that each member's database takes up, by endpoint; undefined where a member does not say. */
  sizes(timeoutMs: number): Promise<(readonly [endpoint: string, sizeBytes: number | undefined])[]> {
    return Promise.all(
      this.#client.endpoints.map(async (endpoint, index) => {
        const status = this.#client.askMember(index, STATUS, Buffer.alloc(0), timeoutMs).then(decodeStatus);
        return [endpoint, await status.then(({ sizeBytes }) => sizeBytes).catch(() => undefined)] as const;
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#lastCommits.values());
    await this.#compactor?.stop();
    this.#compacted.stop();
    for (const watch of this.#watches) watch.close();
    this.#client.close();
  }

  /** The whole of a range, in pages of one revision. */
  async #rangeAll(start: string, end: string, revision: number | undefined): Promise<RangeResult> {
    const items: Stored[] = [];
    const pageSize = new PageSize();
    let pinned = revision;
    for (let key = start; ;) {
      const page = await this.#range('list', { key, end, limit: pageSize.keys, ...(pinned === undefined ? {} : { revision: pinned }) });
      pinned ??= page.revision;
      for (const item of page.items) items.push(item);
      if (page.count <= page.items.length) return { items, revision: pinned, remaining: 0 };
      pageSize.learn(page.items);
      key = `${lastKeyFrom(page.items, key)}\0`;
    }
  }

  async #range(operation: 'get' | 'list', request: RangeRequest): Promise<RangeResponse> {
    this.#assertOpen();
    const done = this.#observer.begin(operation, request.key);
    try {
      const response = decodeRange(await this.#client.read(RANGE, encodeRange(request)));
      done(true);
      return response;
    } catch (error) {
      done(false);
      if (isCompacted(error)) throw new Compacted(request.revision! + 1);
      if (isFutureRevision(error)) throw new RangeError(`revision ${request.revision} has not been reached`);
      throw translated(error);
    }
  }

  async #apply(change: StorageChange): Promise<number> {
    const { key, expected } = change;
    if (change.type === 'delete' && expected === 0) throw new CommitConflict(key, await this.get(key));
    const done = this.#observer.begin(operationOf(change), key);
    try {
      const then =
        change.type === 'put'
          ? ({ type: 'put', key, value: change.value, lease: await this.#leaseOf(change.ttlSeconds) } as const)
          : ({ type: 'delete', key } as const);
      const request = encodeTxn({ key, target: 'revision', equals: expected }, then, { type: 'get', key });
      const { succeeded, revision, found } = decodeTxn(await this.#client.write(TXN, request));
      done(true);
      if (succeeded) return await this.#delivered(key, revision);
      throw new CommitConflict(key, found && { key: found.key, value: found.value, revision: found.revision });
    } catch (error) {
      if (error instanceof CommitConflict) throw error;
      done(false);
      throw translated(error);
    }
  }

  /** What this process has written, its own caches know by the time that it is told so. */
  async #delivered(key: string, revision: number): Promise<number> {
    for (const watch of this.#watches) {
      const news = watch.delivered(key, revision);
      if (news) await news;
    }
    return revision;
  }

  #leaseOf(ttlSeconds: number | undefined): Promise<LeaseId> | undefined {
    return ttlSeconds === undefined ? undefined : this.#leases.leaseFor(ttlSeconds);
  }

  async #grantLease(ttlSeconds: number): Promise<LeaseId> {
    return decodeLease(await this.#client.read(LEASE_GRANT, encodeLeaseGrant(ttlSeconds)));
  }

  async #read(path: string, request: Buffer): Promise<Buffer> {
    try {
      return await this.#client.read(path, request);
    } catch (error) {
      throw translated(error);
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}

/** Where the next page begins. Pages that do not go forward would be asked for without end. */
function lastKeyFrom(items: readonly Stored[], start: string): string {
  const last = items.at(-1);
  if (!last || compareKeys(last.key, start) < 0)
    throw storageError(new GrpcError(GrpcCode.internal, 'etcd answered a page of a range that does not go forward'));
  return last.key;
}

const closedError = (): StorageUnavailable => new StorageUnavailable('the etcd store is closed');
const translated = (error: unknown): unknown => (error instanceof GrpcError ? storageError(error) : error);

const operationOf = ({ type, expected }: StorageChange): 'create' | 'update' | 'delete' =>
  type === 'delete' ? 'delete' : expected === 0 ? 'create' : 'update';

const [V3_4_31, V3_5_0, V3_5_13] = ['3.4.31', '3.5.0', '3.5.13'].map((text) => parseSemanticVersion(text)!) as [Version, Version, Version];
type Version = NonNullable<ReturnType<typeof parseSemanticVersion>>;

/**
 * Whether a member of this version says that a watch has reached a revision only when it has: etcd issues 15220 and 17507, and upstream's
 * apiserver/pkg/storage/feature/feature_support_checker.go.
 */
function hasSafeProgress(versionText: string): boolean {
  const version = parseSemanticVersion(versionText);
  if (!version) return false;
  const isBefore = (other: Version): boolean => compareSemanticVersions(version, other) < 0;
  return !isBefore(V3_4_31) && (isBefore(V3_5_0) || !isBefore(V3_5_13));
}
