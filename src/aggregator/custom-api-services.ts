import type { ResourceClient } from '../client/client.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { isApiError } from '../api/errors.ts';
import { type ApiService, apiServiceName, isManaged, registerLocal } from './local-api-services.ts';
import type { ControllerOptions } from '../controllers/controller.ts';
import { WorkQueue } from '../controllers/work-queue.ts';
import { onAbort } from '../util/on-abort.ts';

/** The group-versions that definitions make the chain serve. */
export interface CustomVersions {
  versions(): readonly ApiVersion[];
  onVersionsChange(listener: () => void): void;
}

export type CustomApiServicesOptions = Pick<ControllerOptions, 'signal' | 'report' | 'now' | 'queueMetrics'>;

/** The one key: only what differs is looked at. */
const ALL = 'all';

/** Keeps one APIService for each group-version of custom resources, and none for those that are gone (kube-apiserver's crdregistration controller). */
export async function keepCustomApiServices(apiServices: ResourceClient<ApiService>, custom: CustomVersions, options: CustomApiServicesOptions): Promise<void> {
  await apiServices.informer.synced;
  const registered = new Set(apiServices.informer.list('').filter(isCustom).map(nameOf));
  const settle = (): Promise<void> => settleAll(apiServices, custom.versions(), registered, options.now);
  const queue = new WorkQueue(settle, { ...options, name: 'crd_autoregistration_controller' });
  const stop = apiServices.informer.onChange((service, old) => {
    // Someone took it away: it comes again.
    if (service === undefined && old !== undefined && registered.delete(nameOf(old))) queue.add(ALL);
  });
  onAbort(options.signal, stop);
  custom.onVersionsChange(() => queue.add(ALL));
  queue.add(ALL);
  await queue.idle();
}

const nameOf = ({ metadata }: ApiService): string => metadata.name!;
const isCustom = (service: ApiService): boolean => isManaged(service, 'true');

/** Only what differs is looked at: there may be thousands. */
async function settleAll(apiServices: ResourceClient<ApiService>, versions: readonly ApiVersion[], registered: Set<string>, now: () => Date): Promise<void> {
  const wanted = new Map(versions.map((version) => [apiServiceName(version), version]));
  for (const [name, version] of wanted) {
    if (registered.has(name)) continue;
    await registerLocal(apiServices, version, 'true', now);
    registered.add(name);
  }
  for (const name of registered) {
    if (wanted.has(name)) continue;
    await remove(apiServices, name);
    registered.delete(name);
  }
}

async function remove(apiServices: ResourceClient<ApiService>, name: string): Promise<void> {
  const found = apiServices.informer.get('', name);
  if (!found || !isCustom(found)) return;
  try {
    await apiServices.delete('', name, { preconditions: { uid: found.metadata.uid! } });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
