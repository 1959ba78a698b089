import type { ResourceClient } from '../client/client.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { isApiError } from '../util/errors.ts';
import { type ApiService, apiServiceName, isManaged, registerLocal } from './local-api-services.ts';

/** The group-versions that definitions make the chain serve. */
export interface CustomVersions {
  versions(): readonly ApiVersion[];
  onVersionsChange(listener: () => void): void;
}

export interface CustomApiServicesOptions {
  signal: AbortSignal;
  /** Hears of failures; the next change tries again. */
  report(error: Error): void;
  now(): Date;
}

/** Keeps one APIService for each group-version of custom resources, and none for those that are gone (kube-apiserver's crdregistration controller). */
export async function keepCustomApiServices(
  apiServices: ResourceClient<ApiService>,
  custom: CustomVersions,
  { signal, report, now }: CustomApiServicesOptions,
): Promise<void> {
  await apiServices.informer.synced;
  let isDue = false;
  let running: Promise<void> | undefined;
  const sync = async (): Promise<void> => {
    while (isDue && !signal.aborted) {
      isDue = false;
      await settle(apiServices, custom.versions(), now).catch(report);
    }
    running = undefined;
  };
  const wake = (): void => {
    isDue = true;
    running ??= sync();
  };
  custom.onVersionsChange(wake);
  wake();
  await running;
}

async function settle(apiServices: ResourceClient<ApiService>, versions: readonly ApiVersion[], now: () => Date): Promise<void> {
  const names = new Set(versions.map(apiServiceName));
  for (const version of versions) if (!apiServices.informer.get('', apiServiceName(version))) await registerLocal(apiServices, version, 'true', now);
  for (const service of apiServices.informer.list('')) {
    if (isManaged(service, 'true') && !names.has(service.metadata.name!)) await remove(apiServices, service);
  }
}

async function remove(apiServices: ResourceClient<ApiService>, { metadata }: ApiService): Promise<void> {
  try {
    await apiServices.delete('', metadata.name!, { preconditions: { uid: metadata.uid! } });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}
