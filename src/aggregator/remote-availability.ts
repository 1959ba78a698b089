import type { APIService, APIServiceCondition, ServiceReference } from '../apis/facts/types/apiregistration-v1.ts';
import type { Service } from '../apis/facts/types/core-v1.ts';
import type { EndpointSlice } from '../apis/facts/types/discovery-v1.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import { isApiError } from '../util/errors.ts';
import { quote } from '../util/field-errors.ts';
import { timeOf } from '../util/time.ts';

export interface RemoteAvailabilityOptions {
  signal: AbortSignal;
  /** Hears of failures; the next change tries again. */
  report(error: Error): void;
  now(): Date;
  /** Asks the server behind the service for the discovery of its version; throws where it does not answer well. */
  reach(service: APIService): Promise<void>;
}

type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/**
 * Tells in the status of every APIService that is served elsewhere whether it can be reached: its Service is there, listens and has endpoints, and its
 * server answers (kube-aggregator/pkg/controllers/status/remote). Resolves after a first look at all.
 */
export async function keepRemoteAvailability(client: Client, options: RemoteAvailabilityOptions): Promise<void> {
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices');
  const services = client.resource<Service>('', 'services');
  const slices = client.resource<EndpointSlice>('discovery.k8s.io', 'endpointslices');
  await Promise.all([apiServices.informer.synced, services.informer.synced, slices.informer.synced]);
  if (options.signal.aborted) return;

  const sync = (name: string): Promise<void> => syncOne(apiServices, name, services, slices, options).catch((error: unknown) => options.report(error as Error));
  const syncThoseOf = (namespace: string | undefined, name: string | undefined): void => {
    for (const { metadata, spec } of apiServices.informer.list(''))
      if (spec.service?.namespace === namespace && spec.service?.name === name) void sync(metadata.name!);
  };
  const stops = [
    apiServices.informer.onChange((service) => void (service && sync(service.metadata.name!))),
    services.informer.onChange((service, old) => syncThoseOf((service ?? old)!.metadata.namespace, (service ?? old)!.metadata.name)),
    slices.informer.onChange((slice, old) => syncThoseOf((slice ?? old)!.metadata.namespace, (slice ?? old)!.metadata.labels?.[SERVICE_NAME_LABEL])),
  ];
  options.signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true });
  await Promise.all(apiServices.informer.list('').map(({ metadata }) => sync(metadata.name!)));
}

async function syncOne(
  apiServices: ResourceClient<APIService>,
  name: string,
  services: ResourceClient<Service>,
  slices: ResourceClient<EndpointSlice>,
  { now, reach }: RemoteAvailabilityOptions,
): Promise<void> {
  const apiService = apiServices.informer.get('', name);
  if (!apiService?.spec.service) return;
  const { namespace = '', name: serviceName = '' } = apiService.spec.service;
  const ofService = slices.informer.list(namespace).filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === serviceName);
  const availability = obstacle(apiService.spec.service, services.informer.get(namespace, serviceName), ofService) ?? (await answer(apiService, reach));
  const isSame = (condition: APIServiceCondition | undefined): boolean =>
    condition?.status === availability.status && condition.reason === availability.reason && condition.message === availability.message;
  if (isSame(availableCondition(apiService))) return;
  try {
    await apiServices.update('', name, (current) => (isSame(availableCondition(current)) ? false : writeCondition(current, availability, now())), 'status');
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
  }
}

/** What keeps requests from even being sent; undefined where nothing does. */
export function obstacle(
  { namespace = '', name = '', port }: ServiceReference,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Availability | undefined {
  const named = `service/${name} in ${quote(namespace)}`;
  if (!service) return no('ServiceNotFound', `${named} is not present`);
  if (service.spec.type !== 'ClusterIP') return undefined;
  const servicePort = (service.spec.ports ?? []).find((candidate) => candidate.port === port);
  if (!servicePort) return no('ServicePortError', `${named} is not listening on port ${port}`);
  if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${named}`);
  const portName = servicePort.name ?? '';
  if (!slices.some((slice) => hasReadyEndpoint(slice, portName)))
    return no('MissingEndpoints', `endpointslices for ${named} have no addresses with port name ${quote(portName)}`);
  return undefined;
}

const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

const hasReadyEndpoint = ({ endpoints, ports }: EndpointSlice, portName: string): boolean =>
  (endpoints ?? []).some(({ conditions }) => conditions?.ready ?? true) && (ports ?? []).some(({ name, port }) => name === portName && port !== undefined);

async function answer(apiService: APIService, reach: RemoteAvailabilityOptions['reach']): Promise<Availability> {
  try {
    await reach(apiService);
    return PASSED;
  } catch (error) {
    return { status: 'False', reason: 'FailedDiscoveryCheck', message: (error as Error).message };
  }
}

const availableCondition = ({ status }: APIService): APIServiceCondition | undefined => (status.conditions ?? []).find(({ type }) => type === 'Available');

/** Its time changes with its status only. */
function writeCondition(apiService: APIService, availability: Availability, now: Date): void {
  const old = availableCondition(apiService);
  const lastTransitionTime = old?.lastTransitionTime && old.status === availability.status ? old.lastTransitionTime : timeOf(now);
  const condition = { type: 'Available', ...availability, lastTransitionTime };
  const conditions = apiService.status.conditions ?? [];
  apiService.status.conditions = old ? conditions.map((other) => (other.type === 'Available' ? condition : other)) : [...conditions, condition];
}
