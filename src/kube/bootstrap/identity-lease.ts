import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client, ResourceClient } from '../../client/client.ts';
import type { ApiObject } from '../../util/api-object.ts';
import { isApiError } from '../../util/errors.ts';
import { serverIdentity } from '../../util/server-identity.ts';
import { microTimeOf } from '../../util/time.ts';
import { type ControllerOptions, ensureNamespaces, isCreated, keepDoing, syncedResource } from './keeping.ts';

const NAMESPACE = 'kube-system';
const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const COMPONENT = 'kube-apiserver';
const PEER_ADDRESS = 'kubernetes.io/peer-advertise-address';
const DURATION_SECONDS = 3600;
const RENEWAL_MS = 10_000;
const COLLECTION_MS = 3_600_000;

export interface IdentityLeaseOptions extends ControllerOptions {
  /** Where other machines reach this server, as far as that is known. */
  advertiseAddress(): string | undefined;
  readonly securePort: number;
  /** Whether a feature gate is on. */
  isEnabled(gate: string): boolean;
}

interface Lease extends ApiObject {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string | null };
}

/** A Lease that says that this server lives, renewed for as long as it does (KEP-1965). */
export function keepIdentityLease(client: Client, options: IdentityLeaseOptions): Promise<void> {
  const name = serverIdentity(hostname(), COMPONENT);
  const holder = `${name}_${randomUUID()}`;
  return keepDoing(() => renew(client, name, holder, options), RENEWAL_MS, options);
}

/** Leases of servers that have been silent for longer than they said go. */
export function collectIdentityLeases(client: Client, options: IdentityLeaseOptions): Promise<void> {
  return keepDoing(() => collect(client, options.now()), COLLECTION_MS, options);
}

async function renew(client: Client, name: string, holder: string, options: IdentityLeaseOptions): Promise<void> {
  const leases = await syncedResource<Lease>(client, 'coordination.k8s.io', 'leases', COMPONENT);
  const spec = { holderIdentity: holder, leaseDurationSeconds: DURATION_SECONDS, renewTime: microTimeOf(options.now()) };
  const labels = { [IDENTITY_LABEL]: COMPONENT, 'kubernetes.io/hostname': hostname() };
  const address = options.isEnabled('UnknownVersionInteroperabilityProxy') ? options.advertiseAddress() : undefined;
  const annotations: Record<string, string> = address === undefined ? {} : { [PEER_ADDRESS]: `${address}:${options.securePort}` };
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
