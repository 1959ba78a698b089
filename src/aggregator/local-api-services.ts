import { locallyAvailable } from '../apis/apiregistration/api-service.ts';
import type { ResourceClient } from '../client/client.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isApiError } from '../api/errors.ts';
import { equalJson } from '../encoding/json-equal.ts';

/** What tells the aggregator's own APIServices from a user's. `onstart`: made once, at each start; users may change or remove them in between. */
const MANAGED_LABEL = 'kube-aggregator.kubernetes.io/automanaged';
/** `true`: kept as long as the definition that it stands for. */
export type Managed = 'onstart' | 'true';

export interface ApiService extends ApiObject {
  spec: { group?: string; version?: string; groupPriorityMinimum: number; versionPriority: number; service?: object };
  status?: { conditions?: Condition[] };
}

interface Condition {
  type: string;
  status: string;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/**
 * Registers the group-versions that the chain itself serves, and marks them available: there is no other server behind them that could be away
 * (kube-aggregator's autoregister and local availability controllers).
 */
export async function registerLocalApiServices(apiServices: ResourceClient<ApiService>, versions: readonly ApiVersion[], now: () => Date): Promise<void> {
  await apiServices.informer.synced;
  await Promise.all([...versions.map((version) => registerLocal(apiServices, version, 'onstart', now)), ...removeFormer(apiServices, versions)]);
}

/** Groups of our own, which come and go with a flag (--history), and of which nobody else knows. */
const OWN_GROUPS = '.binnacle.dev';

function removeFormer(apiServices: ResourceClient<ApiService>, versions: readonly ApiVersion[]): Promise<void>[] {
  const wanted = new Set(versions.map(apiServiceName));
  const former = apiServices.informer.list('').filter((service) => {
    const { name = '' } = service.metadata;
    return name.endsWith(OWN_GROUPS) && isManaged(service, 'onstart') && !wanted.has(name);
  });
  return former.map(async ({ metadata }) => {
    await apiServices.delete('', metadata.name!).catch((error: unknown) => {
      if (!isApiError(error, 'NotFound')) throw error;
    });
  });
}

export async function registerLocal(apiServices: ResourceClient<ApiService>, version: ApiVersion, managed: Managed, now: () => Date): Promise<void> {
  await markAvailable(apiServices, await ensureRegistered(apiServices, version, managed), now);
}

export const isManaged = ({ metadata }: ApiService, managed: Managed): boolean => metadata.labels?.[MANAGED_LABEL] === managed;

export const apiServiceName = ({ group, version }: ApiVersion): string => `${version}.${group}`;

function desired(api: ApiVersion, managed: Managed): ApiService {
  const { group, version, groupPriorityMinimum, versionPriority } = api;
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: apiServiceName(api), labels: { [MANAGED_LABEL]: managed } },
    spec: { ...(group !== '' && { group }), version, groupPriorityMinimum, versionPriority },
  };
}

async function ensureRegistered(apiServices: ResourceClient<ApiService>, version: ApiVersion, managed: Managed): Promise<ApiService> {
  const wanted = desired(version, managed);
  const name = wanted.metadata.name!;
  const found = apiServices.informer.get('', name);
  if (!found) return createOrGet(apiServices, wanted);
  const isOurs = found.metadata.labels?.[MANAGED_LABEL] !== undefined;
  if (!isOurs || equalJson(found.spec, wanted.spec)) return found;
  return apiServices.update('', name, (service) => {
    service.spec = wanted.spec;
  });
}

async function createOrGet(apiServices: ResourceClient<ApiService>, wanted: ApiService): Promise<ApiService> {
  try {
    return await apiServices.create('', wanted);
  } catch (error) {
    if (!isApiError(error, 'AlreadyExists')) throw error;
    return (await apiServices.get('', wanted.metadata.name!)) ?? wanted;
  }
}

async function markAvailable(apiServices: ResourceClient<ApiService>, { metadata, spec, status }: ApiService, now: () => Date): Promise<void> {
  const current = status?.conditions?.find(({ type }) => type === 'Available');
  if (spec.service || (current?.status === 'True' && current.reason === 'Local')) return;
  await apiServices.update('', metadata.name!, (service) => void (service.status = { conditions: [locallyAvailable(now())] }), 'status');
}
