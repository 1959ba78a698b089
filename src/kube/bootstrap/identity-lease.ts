import { hostname } from 'node:os';
import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { delay } from '../../util/delay.ts';
import { isApiError } from '../../api/errors.ts';
import { linkSignals } from '../../util/linked-signal.ts';
import { serverIdentity } from '../../api/server-identity.ts';
import { hostPort } from '../../net/dial.ts';
import { microTimeOf } from '../../util/time.ts';
import { type BootstrapControllerOptions, ensureNamespaces, isCreated, keepDoing, syncedResource } from './keeping.ts';
import type { PeerAddress } from './peer-endpoints.ts';

const NAMESPACE = 'kube-system';
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const COMPONENT = 'kube-apiserver';
const PEER_ADDRESS = 'kubernetes.io/peer-advertise-address';
const DURATION_SECONDS = 3600;
const RENEWAL_MS = 10_000;
/** Upstream's shutdownTimeout. */
const STOP_MS = 5000;
const COLLECTION_MS = 3_600_000;

export interface IdentityLeaseOptions extends BootstrapControllerOptions {
  /** Where other servers reach this one, as far as that is known. */
  peerAddress(): PeerAddress | undefined;
  /** Tells this start of the server from others, for those who must know what it serves now. */
  readonly instanceId: string;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
}

interface Lease extends ApiObject {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string | null };
}

export interface IdentityLeaseController {
  /** Resolves after the first attempt to make the Lease; renews it until the signal. */
  run(signal: AbortSignal): Promise<void>;
  /** On the way down: removes it, so that nobody takes this server for one that lives. */
  stop(): Promise<void>;
}

/** A Lease that says that this server lives, renewed for as long as it does (KEP-1965). */
export function identityLeaseController(client: Client, options: Omit<IdentityLeaseOptions, 'signal'>): IdentityLeaseController {
  const name = serverIdentity(hostname(), COMPONENT);
  const holder = `${name}_${options.instanceId}`;
  const stopped = new AbortController();
  let lastPass: Promise<void> = Promise.resolve();
  return {
    async run(signal) {
      const own = { ...options, signal: linkSignals(signal, stopped.signal).signal };
      await keepDoing(() => (lastPass = renew(client, name, holder, own)), RENEWAL_MS, own);
    },
    async stop() {
      stopped.abort();
      // A store that cannot be reached must not keep the server from ending.
      const removed = new AbortController();
      const removal = lastPass
        .catch(() => undefined)
        .then(() => remove(client, name))
        .finally(() => removed.abort());
      await Promise.race([removal, delay(STOP_MS, removed.signal)]);
    },
  };
}

async function remove(client: Client, name: string): Promise<void> {
  try {
    await client.resource('coordination.k8s.io', 'leases').delete(NAMESPACE, name);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}

/** Leases of servers that have been silent for longer than they said go. */
export function collectIdentityLeases(client: Client, options: IdentityLeaseOptions): Promise<void> {
  return keepDoing(() => collect(client, options.now()), COLLECTION_MS, options);
}

async function renew(client: Client, name: string, holder: string, options: IdentityLeaseOptions): Promise<void> {
  const leases = await syncedResource<Lease>(client, 'coordination.k8s.io', 'leases', COMPONENT);
  const spec = { holderIdentity: holder, leaseDurationSeconds: DURATION_SECONDS, renewTime: microTimeOf(options.now()) };
  const labels = { [IDENTITY_LABEL]: COMPONENT, 'kubernetes.io/hostname': hostname() };
  const address = options.isEnabled('UnknownVersionInteroperabilityProxy') ? options.peerAddress() : undefined;
  const annotations: Record<string, string> = address === undefined ? {} : { [PEER_ADDRESS]: hostPort(address.host, address.port) };
  if (leases.informer.get(NAMESPACE, name) === undefined) {
    await ensureNamespaces(client, [NAMESPACE]);
    const metadata = { name, namespace: NAMESPACE, labels, annotations };
    // Servers of one host have one name.
    if (await isCreated(leases.create(NAMESPACE, { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec }))) return;
  }
  await leases.update(NAMESPACE, name, (lease) => {
    lease.metadata.labels = { ...lease.metadata.labels, ...labels };
    lease.metadata.annotations = { ...lease.metadata.annotations, ...annotations };
    lease.spec = { ...lease.spec, ...spec };
  });
}

async function collect(client: Client, now: Date): Promise<void> {
  const leases = await syncedResource<Lease>(client, 'coordination.k8s.io', 'leases');
  const isOver = ({ metadata, spec }: Lease): boolean =>
    metadata.labels?.[IDENTITY_LABEL] === COMPONENT &&
    (!spec.renewTime || !spec.leaseDurationSeconds || Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1000 < now.getTime());
  for (const lease of leases.informer.list(NAMESPACE).filter(isOver)) await removeUnchanged(leases, lease);
}

/** Another server may have collected it, or its own may have come back. */
async function removeUnchanged(leases: ResourceClient<Lease>, { metadata: { name = '', resourceVersion = '' } }: Lease): Promise<void> {
  try {
    await leases.delete(NAMESPACE, name, { preconditions: { resourceVersion } });
  } catch (error) {
    if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
  }
}
