import type { StoredObjects } from '../../registry/stored-objects.ts';
import type { Endpoints } from './endpoints.ts';

/** So long after the last renewal a server counts as gone; renewals come every ten seconds. */
const TTL_SECONDS = 15;

/** The addresses of the servers that live. */
export interface MasterLeases {
  list(): Promise<string[]>;
  renew(address: string): Promise<void>;
  remove(address: string): Promise<void>;
}

/** Under upstream's keys, `/registry/masterleases/<address>`, so that kube-apiservers on the same store count too (controlplane/reconcilers/lease.go). */
export const storedMasterLeases = (objects: StoredObjects<Endpoints>): MasterLeases => ({
  async list() {
    return (await objects.list()).flatMap(({ subsets }) => subsets?.[0]?.addresses?.[0]?.ip || []);
  },
  async renew(address) {
    await objects.update(address, (current) => leaseOf(address, current), { ttlSeconds: TTL_SECONDS });
  },
  async remove(address) {
    await objects.remove(address);
  },
});

const leaseOf = (address: string, current: Endpoints | undefined): Endpoints => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: { ...current?.metadata, generation: (current?.metadata.generation ?? 0) + 1 },
  subsets: [{ addresses: [{ ip: address }] }],
});

/** Of a server that has its store for itself: nobody else lives, and nothing need be written. */
export function ownMasterLease(): MasterLeases {
  const living = new Set<string>();
  return {
    async list() {
      return [...living];
    },
    async renew(address) {
      living.add(address);
    },
    async remove(address) {
      living.delete(address);
    },
  };
}
