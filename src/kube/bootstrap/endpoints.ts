import { ipFamilyOf } from '../../apis/validation/ip-address.ts';
import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { createIfMissing, ignoringAlreadyExists } from './keeping.ts';

/* The endpoints of the service `kubernetes`, as Endpoints and as an EndpointSlice that says the same (controlplane/reconcilers/endpointsadapter.go). */

export const SERVICE_NAMESPACE = 'default';
export const SERVICE_NAME = 'kubernetes';
const SKIP_MIRROR = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
const SLICE_LABELS = { 'kubernetes.io/service-name': SERVICE_NAME };

export interface EndpointPort {
  name: string;
  port: number;
  protocol: string;
}

export interface Subset {
  addresses?: { ip: string }[];
  ports?: EndpointPort[];
}

export interface Endpoints extends ApiObject {
  subsets?: Subset[];
}

interface EndpointSlice extends ApiObject {
  addressType: string;
  endpoints: { addresses: string[]; conditions: { ready: boolean } }[] | null;
  ports?: EndpointPort[];
}

export const readEndpoints = (client: Client): Promise<Endpoints | undefined> =>
  client.resource<Endpoints>('', 'endpoints').get(SERVICE_NAMESPACE, SERVICE_NAME);

/** Makes the subsets what `next` says of those that there are, and the slice follow. Where there are no Endpoints, they are made. */
export async function writeEndpoints(client: Client, next: (current: readonly Subset[]) => Subset[]): Promise<void> {
  const resource = client.resource<Endpoints>('', 'endpoints');
  const metadata = { name: SERVICE_NAME, namespace: SERVICE_NAMESPACE, labels: SKIP_MIRROR };
  let current = await readEndpoints(client);
  if (current === undefined) {
    await ignoringAlreadyExists(resource.create(SERVICE_NAMESPACE, { kind: 'Endpoints', apiVersion: 'v1', metadata, subsets: next([]) }));
    current = await readEndpoints(client);
  }
  if (current === undefined) return;
  const written = await changeIfOther(current);
  await writeSlice(client, written.subsets?.[0] ?? {});

  async function changeIfOther(found: Endpoints): Promise<Endpoints> {
    const isRight = ({ subsets = [], metadata: { labels } }: Endpoints): boolean => equalJson(subsets, next(subsets)) && hasLabels(labels, SKIP_MIRROR);
    if (isRight(found)) return found;
    return resource.update(SERVICE_NAMESPACE, SERVICE_NAME, (object) => {
      if (isRight(object)) return false;
      object.subsets = next(object.subsets ?? []);
      object.metadata.labels = { ...object.metadata.labels, ...SKIP_MIRROR };
      return true;
    });
  }
}

async function writeSlice(client: Client, { addresses = [], ports = [] }: Subset): Promise<void> {
  const resource = client.resource<EndpointSlice>('discovery.k8s.io', 'endpointslices');
  await resource.informer.synced;
  const wanted = sliceOf(
    addresses.map(({ ip }) => ip),
    ports,
  );
  const found = await resource.get(SERVICE_NAMESPACE, SERVICE_NAME);
  // The address type cannot be changed.
  if (found !== undefined && found.addressType !== wanted.addressType) await removeSlice(client);
  else if (found !== undefined && isSame(found, wanted)) return;
  await createIfMissing(resource, wanted);
  const current = await resource.get(SERVICE_NAMESPACE, SERVICE_NAME);
  if (current === undefined || current.addressType !== wanted.addressType || isSame(current, wanted)) return;
  await resource.update(SERVICE_NAMESPACE, SERVICE_NAME, (slice) => {
    if (isSame(slice, wanted)) return false;
    Object.assign(slice, { endpoints: wanted.endpoints, ports: wanted.ports });
    slice.metadata.labels = { ...slice.metadata.labels, ...SLICE_LABELS };
    return true;
  });
}

async function removeSlice(client: Client): Promise<void> {
  try {
    await client.resource('discovery.k8s.io', 'endpointslices').delete(SERVICE_NAMESPACE, SERVICE_NAME);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}

const isVersion6 = (address: string): boolean => ipFamilyOf(address) === 6;

/** Version 6 only where all addresses are of it; else those of version 4. */
function sliceOf(addresses: readonly string[], ports: EndpointPort[]): EndpointSlice {
  const areVersion6 = addresses.length > 0 && addresses.every(isVersion6);
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: { name: SERVICE_NAME, namespace: SERVICE_NAMESPACE, labels: SLICE_LABELS },
    addressType: areVersion6 ? 'IPv6' : 'IPv4',
    endpoints: addresses.filter((address) => isVersion6(address) === areVersion6).map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports,
  };
}

const isSame = (slice: EndpointSlice, wanted: EndpointSlice): boolean =>
  equalJson(slice.endpoints ?? [], wanted.endpoints ?? []) &&
  equalJson(slice.ports ?? [], wanted.ports ?? []) &&
  hasLabels(slice.metadata.labels, SLICE_LABELS);

const hasLabels = (labels: Record<string, string> | undefined, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels?.[key] === value);
