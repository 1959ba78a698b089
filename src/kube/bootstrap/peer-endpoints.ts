import type { HostAndPort } from '../../client/service-address.ts';
import type { StoredObjects } from '../../registry/stored-objects.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import type { Endpoints } from './endpoints.ts';
import { type BootstrapControllerOptions, keepDoing } from './keeping.ts';

const INTERVAL_MS = 10_000;
const TTL_SECONDS = 15;
const IDENTITY_LABEL = 'apiserverIdentity';

export interface PeerEndpointsOptions extends BootstrapControllerOptions {
  /** Where other servers reach this one, as far as that is known. */
  peerAddress(): PeerAddress | undefined;
}

export interface PeerAddress {
  host: string;
  /** As `--peer-advertise-port` has it: a number, where somebody is to come. */
  port: string;
}

/** Where the servers of one store reach each other, by their identity, for requests that only one of them can serve (KEP-4020). */
export interface PeerEndpoints {
  /** This server lives. To be called every ten seconds. */
  renew(address: string, port: number): Promise<void>;
  remove(): Promise<void>;
  /** Where a server is reached; undefined where it says nothing, or no longer. */
  addressOf(identity: string): Promise<HostAndPort | undefined>;
}

/** Under upstream's keys, `/registry/peerserverleases/<identity>` (apiserver/pkg/reconcilers/peer_endpoint_lease.go). */
export const storedPeerEndpoints = (objects: StoredObjects<Endpoints>, identity: string): PeerEndpoints => ({
  async renew(address, port) {
    await objects.update(identity, (current) => leaseOf(identity, address, port, current), { ttlSeconds: TTL_SECONDS });
  },
  async remove() {
    await objects.remove(identity);
  },
  async addressOf(other) {
    const subset = (await objects.get(other))?.object.subsets?.[0];
    const host = subset?.addresses?.[0]?.ip;
    const port = subset?.ports?.[0]?.port;
    return host === undefined || port === undefined ? undefined : { host, port };
  },
});

const leaseOf = (identity: string, ip: string, port: number, current: Endpoints | undefined): Endpoints => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: {
    ...current?.metadata,
    labels: { ...current?.metadata.labels, [IDENTITY_LABEL]: identity },
    generation: (current?.metadata.generation ?? 0) + 1,
  },
  subsets: [{ addresses: [{ ip }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
});

/** Of a server that has its store for itself: it has no peers, and nothing need be written. */
export const noPeerEndpoints: PeerEndpoints = { async renew() {}, async remove() {}, addressOf: () => Promise.resolve(undefined) };

export interface PeerEndpointsController {
  /** Resolves after the first attempt; goes on until the signal. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

async function renewAt(endpoints: PeerEndpoints, { host, port }: PeerAddress): Promise<void> {
  if (!/^[0-9]+$/.test(port)) throw new Error(`unable to update peer endpoint leases: ${JSON.stringify(port)} is no port`);
  await endpoints.renew(host, Number(port));
}

export function peerEndpointsController(endpoints: PeerEndpoints, options: Omit<PeerEndpointsOptions, 'signal'>): PeerEndpointsController {
  const stopped = new AbortController();
  let lastPass: Promise<void> = Promise.resolve();
  const pass = (): Promise<void> => {
    const address = options.peerAddress();
    if (address !== undefined) lastPass = renewAt(endpoints, address);
    return lastPass;
  };
  return {
    async run(signal) {
      const { signal: either } = linkSignals(signal, stopped.signal);
      await keepDoing(pass, INTERVAL_MS, { ...options, signal: either });
    },
    async stop() {
      stopped.abort();
      await lastPass.catch(() => undefined);
      await endpoints.remove();
    },
  };
}
