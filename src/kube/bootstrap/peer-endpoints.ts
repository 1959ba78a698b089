import type { StoredObjects } from '../../registry/stored-objects.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import type { Endpoints } from './endpoints.ts';
import { type BootstrapControllerOptions, keepDoing } from './keeping.ts';

const INTERVAL_MS = 10_000;
const TTL_SECONDS = 15;
const IDENTITY_LABEL = 'apiserverIdentity';

export interface PeerEndpointsOptions extends BootstrapControllerOptions {
  /** Where other machines reach this server, as far as that is known. */
  advertiseAddress(): string | undefined;
  readonly securePort: number;
}

/** Where the servers of one store reach each other, by their identity, for requests that only one of them can serve (KEP-4020). */
export interface PeerEndpoints {
  /** This server lives. To be called every ten seconds. */
  renew(address: string, port: number): Promise<void>;
  remove(): Promise<void>;
}

/** Under upstream's keys, `/registry/peerserverleases/<identity>` (apiserver/pkg/reconcilers/peer_endpoint_lease.go). */
export const storedPeerEndpoints = (objects: StoredObjects<Endpoints>, identity: string): PeerEndpoints => ({
  async renew(address, port) {
    await objects.update(identity, (current) => leaseOf(identity, address, port, current), { ttlSeconds: TTL_SECONDS });
  },
  async remove() {
    await objects.remove(identity);
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
export const noPeerEndpoints: PeerEndpoints = { async renew() {}, async remove() {} };

export interface PeerEndpointsController {
  /** Resolves after the first attempt; goes on until the signal. */
  run(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export function peerEndpointsController(endpoints: PeerEndpoints, options: Omit<PeerEndpointsOptions, 'signal'>): PeerEndpointsController {
  const stopped = new AbortController();
  let lastPass: Promise<void> = Promise.resolve();
  const pass = (): Promise<void> => {
    const address = options.advertiseAddress();
    if (address !== undefined) lastPass = endpoints.renew(address, options.securePort);
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
