import { needsClusterIp } from '../../apis/core/service/traits.ts';
import type { Service } from '../../apis/facts/types/core-v1.ts';
import { ipFamilyOf } from '../../apis/validation/ip-address.ts';
import type { Client, ResourceClient } from '../../client/client.ts';
import { isApiError } from '../../api/errors.ts';
import type { AllocationMetrics } from './allocation-metrics.ts';
import type { Finding, RepairEvents } from './repair-events.ts';
import { type IpAddressObject, hasLabelsOf, ipAddressOf, isAllocated, refersToService } from './ip-address.ts';

/** An address is reserved before its service is stored; a request that has not done so after a minute never will. */
const GRACE_MS = 60_000;
/** One of a request that failed is given back by then. */
const REVERT_MS = 5_000;

export interface ClusterIpRepairOptions {
  client: Client;
  /** Called with what was found wrong. */
  report(error: Error): void;
  now(): Date;
  /** Where the same is told to whoever looks at the service or its address. */
  events: RepairEvents;
  metrics?: Pick<AllocationMetrics, 'clusterIpRepaired'>;
}

const SERVICE = { apiVersion: 'v1', kind: 'Service' };
const IP_ADDRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress' };

/**
 * Makes IPAddresses say what services have (registry/core/service/ipallocator/controller/repairip.go). `graceMs`: how old an address must be that has no
 * service, for it to go; 0 where nobody can be about to store one.
 */
export async function repairClusterIps(options: ClusterIpRepairOptions, graceMs = GRACE_MS): Promise<void> {
  const { client } = options;
  const services = client.resource<Service>('', 'services');
  const addresses = client.resource<IpAddressObject>('networking.k8s.io', 'ipaddresses');
  await Promise.all([services.informer.synced, addresses.informer.synced]);
  for (const service of services.informer.list('')) {
    if (!needsClusterIp(service)) continue;
    for (const address of service.spec.clusterIPs ?? []) if (address !== 'None') await repairAddressOf(service, address, services, addresses, options);
  }
  for (const address of addresses.informer.list('')) if (isAllocated(address)) await removeLeaked(address, services, addresses, options, graceMs);
}

async function repairAddressOf(
  service: Service,
  address: string,
  services: ResourceClient<Service>,
  addresses: ResourceClient<IpAddressObject>,
  { report, events, metrics }: ClusterIpRepairOptions,
): Promise<void> {
  const warn = (reason: string, note: string): void => events.warn(SERVICE, service, { reason, action: 'ClusterIPAllocation', note });
  const { namespace = '', name = '' } = service.metadata;
  const family = ipFamilyOf(address) === 6 ? 'IPv6' : 'IPv4';
  const wanted = ipAddressOf(family, address, { namespace, name });
  const found = addresses.informer.get('', address);
  if (found === undefined) {
    report(new Error(`the ClusterIP [${family}]: ${address} for Service ${namespace}/${name} is not allocated; repairing`));
    metrics?.clusterIpRepaired('repair');
    warn('ClusterIPNotAllocated', `Cluster IP [${family}]: ${address} is not allocated; repairing`);
    return create(addresses, wanted);
  }
  const { parentRef } = found.spec;
  const isOwn = refersToService(found) && parentRef.namespace === namespace && parentRef.name === name;
  const other = isOwn || !refersToService(found) ? undefined : services.informer.get(parentRef.namespace ?? '', parentRef.name);
  if (other?.spec.clusterIPs?.includes(address)) {
    const owner = `${parentRef.namespace}/${parentRef.name}`;
    report(new Error(`the cluster IP [${family}]:${address} for service ${namespace}/${name} was assigned to other services ${owner}; please recreate`));
    metrics?.clusterIpRepaired('duplicate');
    return warn('ClusterIPAlreadyAllocated', `Cluster IP [${family}]:${address} was assigned to multiple services; please recreate service`);
  }
  if (isOwn && hasLabelsOf(found, family)) return;
  if (!isOwn) {
    metrics?.clusterIpRepaired('repair');
    warn('ClusterIPNotAllocated', `the ClusterIP [${family}]: ${address} for Service ${namespace}/${name} has a wrong reference; repairing`);
  }
  await remove(addresses, found);
  await create(addresses, wanted);
}

async function removeLeaked(
  address: IpAddressObject,
  services: ResourceClient<Service>,
  addresses: ResourceClient<IpAddressObject>,
  { report, now, events, metrics }: ClusterIpRepairOptions,
  graceMs: number,
): Promise<void> {
  const { parentRef } = address.spec;
  const name = address.metadata.name!;
  const service = refersToService(address) ? services.informer.get(parentRef.namespace ?? '', parentRef.name) : undefined;
  if (service?.spec.clusterIPs?.includes(name)) return;
  const ageMs = now().getTime() - Date.parse(address.metadata.creationTimestamp ?? '');
  const isBeingStored = service === undefined || service.spec.type === 'ExternalName';
  if (refersToService(address) && ageMs <= (isBeingStored ? graceMs : Math.min(REVERT_MS, graceMs))) return;
  const finding = leak(address, service !== undefined);
  metrics?.clusterIpRepaired('leak');
  report(new Error(finding.note));
  events.warn(IP_ADDRESS, address, finding);
  await remove(addresses, address);
}

function leak(address: IpAddressObject, hasService: boolean): Finding {
  const { name = '' } = address.metadata;
  const { group = '', resource, namespace = '', name: owner } = address.spec.parentRef;
  const action = 'IPAddressAllocation';
  if (!refersToService(address)) {
    // As Go prints the reference.
    const reference = `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${owner},}`;
    const note = `IPAddress ${name} appears to have been modified, not referencing a Service ${reference}: cleaning up`;
    return { reason: 'IPAddressNotAllocated', action, note };
  }
  const title = `IPAddress: ${name} for Service ${namespace}/${owner}`;
  if (hasService) return { reason: 'IPAddressWrongReference', action, note: `${title} has a wrong reference; cleaning up` };
  return { reason: 'IPAddressNotAllocated', action, note: `${title} appears to have leaked: cleaning up` };
}

async function create(addresses: ResourceClient<IpAddressObject>, wanted: IpAddressObject): Promise<void> {
  try {
    await addresses.create('', wanted);
  } catch (error) {
    // Another server was faster.
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}

/** Only the one that was looked at: what has come in its place is somebody's. */
async function remove(addresses: ResourceClient<IpAddressObject>, { metadata: { name = '', uid } }: IpAddressObject): Promise<void> {
  try {
    await addresses.delete('', name, uid === undefined ? {} : { preconditions: { uid } });
  } catch (error) {
    if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
  }
}
