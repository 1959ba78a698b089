import type { GrpcService, ServerCall, ServerCallHandler, StreamMethod, UnaryMethod } from '../../grpc/server.ts';
import { GrpcError, GrpcCode } from '../../grpc/status.ts';
import type { Clock } from '../../util/clock.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { TOO_LARGE, asEtcdError } from './errors.ts';
import { KeyValues } from './key-values.ts';
import type { LeaseTable } from './leases.ts';
import { decodeLeaseGrantRequest, decodeLeaseRequest } from './requests.ts';
import { encodeHeader, encodeLeaseAnswer, encodeLeaseList, encodeMembers, encodeServing, encodeStatus } from './responses.ts';
import { SnapshotStream } from './snapshot.ts';
import { Watches } from './watches.ts';

/** The version of etcd whose API this is. Clients look at it to know whether progress may be asked for (from 3.5.13 on). */
export const ETCD_VERSION = '3.5.21';

interface EtcdServiceParts {
  engine: LocalEngine;
  leases: LeaseTable;
  clock: Clock;
  /** Where clients reach this server. */
  clientUrls: readonly string[];
  /** Where snapshots are put together. */
  snapshotFolder: string;
  /** Of a write. */
  maxRequestBytes: number;
}

const KV = '/etcdserverpb.KV/';
const LEASE = '/etcdserverpb.Lease/';
const MAINTENANCE = '/etcdserverpb.Maintenance/';

/** etcd's API as far as Kubernetes and `etcdctl` use it. */
export function etcdService({ engine, leases, clock, clientUrls, snapshotFolder, maxRequestBytes }: EtcdServiceParts): GrpcService {
  const keyValues = new KeyValues(engine, leases);
  const watches = new Watches(engine, clock);
  const bounded =
    (method: UnaryMethod): UnaryMethod =>
    (message) => {
      if (message.length > maxRequestBytes) throw TOO_LARGE;
      return method(message);
    };
  const header = (): Buffer => encodeHeader(engine.publishedRevision);
  const unary: [string, UnaryMethod][] = [
    [`${KV}Range`, keyValues.range],
    [`${KV}Put`, bounded(keyValues.put)],
    [`${KV}DeleteRange`, bounded(keyValues.deleteRange)],
    [`${KV}Txn`, bounded(keyValues.txn)],
    [`${KV}Compact`, keyValues.compact],
    ...leaseMethods(engine, leases),
    [`${MAINTENANCE}Status`, () => status(engine)],
    [`${MAINTENANCE}Alarm`, header],
    // LMDB reuses free pages, and its file does not shrink: there is nothing to do.
    [`${MAINTENANCE}Defragment`, header],
    ['/etcdserverpb.Cluster/MemberList', () => encodeMembers(engine.publishedRevision, clientUrls)],
    ['/grpc.health.v1.Health/Check', async () => checkHealth(engine)],
  ];
  const streams: [string, StreamMethod][] = [
    ['/etcdserverpb.Watch/Watch', watches.watch],
    [`${LEASE}LeaseKeepAlive`, (call) => new KeepAliveStream(call, engine, leases)],
    [`${MAINTENANCE}Snapshot`, (call) => new SnapshotStream(call, { engine, leases, clock, folder: snapshotFolder, version: ETCD_VERSION })],
  ];
  return { unary: new Map(unary), streams: new Map(streams) };
}

async function checkHealth(engine: LocalEngine): Promise<Buffer> {
  try {
    await engine.checkHealth();
  } catch (error) {
    throw asEtcdError(error);
  }
  return encodeServing();
}

function status(engine: LocalEngine): Buffer {
  const { sizeBytes, freeBytes } = engine.statistics() ?? { sizeBytes: 0, freeBytes: 0 };
  return encodeStatus({ version: ETCD_VERSION, sizeBytes, usedBytes: sizeBytes - freeBytes, revision: engine.publishedRevision });
}

function leaseMethods(engine: LocalEngine, leases: LeaseTable): [string, UnaryMethod][] {
  const grant = async (message: Buffer): Promise<Buffer> => {
    const { id, ttlSeconds } = decodeLeaseGrantRequest(message);
    const lease = await leases.grant(id, ttlSeconds);
    return encodeLeaseAnswer(engine.publishedRevision, lease.id, lease.ttlSeconds);
  };
  const revoke = async (message: Buffer): Promise<Buffer> => {
    await leases.revoke(decodeLeaseRequest(message).id);
    return encodeHeader(engine.publishedRevision);
  };
  const timeToLive = (message: Buffer): Buffer => {
    const { id, wantsKeys } = decodeLeaseRequest(message);
    const lease = leases.timeToLive(id);
    if (!lease) return encodeLeaseAnswer(engine.publishedRevision, id, -1);
    return encodeLeaseAnswer(engine.publishedRevision, id, lease.remainingSeconds, lease.grantedSeconds, wantsKeys ? lease.keys : []);
  };
  return [
    [`${LEASE}LeaseGrant`, grant],
    [`${LEASE}LeaseRevoke`, revoke],
    [`${LEASE}LeaseTimeToLive`, timeToLive],
    [`${LEASE}LeaseLeases`, () => encodeLeaseList(engine.publishedRevision, leases.ids)],
  ];
}

/** Each message names a lease and is answered with its seconds; 0 where there is no such lease. */
class KeepAliveStream implements ServerCallHandler {
  readonly #call: ServerCall;
  readonly #engine: LocalEngine;
  readonly #leases: LeaseTable;

  constructor(call: ServerCall, engine: LocalEngine, leases: LeaseTable) {
    this.#call = call;
    this.#engine = engine;
    this.#leases = leases;
  }

  onMessage(message: Buffer): void {
    const { id } = decodeLeaseRequest(message);
    void this.#leases.keepAlive(id).then(
      (ttlSeconds) => this.#call.send(encodeLeaseAnswer(this.#engine.publishedRevision, id, ttlSeconds ?? 0)),
      (error: Error) => this.#call.end(new GrpcError(GrpcCode.unavailable, error.message)),
    );
  }

  onHalfClose(): void {
    this.#call.end();
  }

  onEnd(): void {}
}
