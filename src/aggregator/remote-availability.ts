import type { APIService, APIServiceCondition, ServiceReference } from '../apis/facts/types/apiregistration-v1.ts';
import { locallyAvailable } from '../apis/apiregistration/api-service.ts';
import type { Service } from '../apis/facts/types/core-v1.ts';
import type { EndpointSlice } from '../apis/facts/types/discovery-v1.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import { WorkQueue } from '../controllers/work-queue.ts';
import type { QueueMetricsOf } from '../controllers/work-queue-metrics.ts';
import { isApiError } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import { timeOf } from '../util/time.ts';
import { onAbort } from '../util/on-abort.ts';

export interface RemoteAvailabilityOptions {
  signal: AbortSignal;
  /** Called with failures to write a status; they are tried again. */
  report(error: Error): void;
  now(): Date;
  /** Absent where nothing is counted. */
  queueMetrics?: QueueMetricsOf;
  /** Asks the server behind the service for the discovery of its version; throws where it does not answer well. */
  reach(name: string): Promise<void>;
  /** Calls back with names that are to be looked at at once. */
  onSuspicion?(listener: (name: string) => void): void;
  /** An APIService that was available, or new, is not: it, and why. */
  onUnavailable?(name: string, reason: string): void;
}

type Availability = Pick<APIServiceCondition, 'status' | 'reason' | 'message'>;

const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const PASSED: Availability = { status: 'True', reason: 'Passed', message: 'all checks passed' };
const WORKERS = 5;
const RECHECK_MS = 30_000;
const FIRST_RETRY_MS = 5;
/** Upstream waits up to 30 s; a server that comes back is to be found sooner. */
const LAST_RETRY_MS = 1_000;

/**
 * Tells in the status of every APIService that is served elsewhere whether it can be reached: its Service is there, listens and has endpoints, and its
 * server answers (kube-aggregator/pkg/controllers/status/remote). Looked at again on every change of those, every 30 s, and soon after a failure.
 * Resolves when it has begun: a server that does not answer holds nobody up.
 */
export async function keepRemoteAvailability(client: Client, options: RemoteAvailabilityOptions): Promise<void> {
  const { signal } = options;
  const apiServices = client.resource<APIService>('apiregistration.k8s.io', 'apiservices');
  const services = client.resource<Service>('', 'services');
  const slices = client.resource<EndpointSlice>('discovery.k8s.io', 'endpointslices');
  await Promise.all([apiServices.informer.synced, services.informer.synced, slices.informer.synced]);
  if (signal.aborted) return;

  const checker = new Checker(apiServices, services, slices, options);
  const queue = new WorkQueue((name) => checker.check(name), { ...options, name: 'RemoteAvailabilityController', workers: WORKERS });
  const addThoseOf = (namespace: string | undefined, name: string | undefined): void => {
    for (const apiService of checker.ofService(`${namespace}/${name}`)) queue.add(apiService);
  };
  const stops = [
    apiServices.informer.onChange((service, old) => {
      checker.noteChange(service, old);
      queue.add((service ?? old)!.metadata.name!);
    }),
    services.informer.onChange((service, old) => addThoseOf((service ?? old)!.metadata.namespace, (service ?? old)!.metadata.name)),
    slices.informer.onChange((slice, old) => addThoseOf((slice ?? old)!.metadata.namespace, (slice ?? old)!.metadata.labels?.[SERVICE_NAME_LABEL])),
  ];
  options.onSuspicion?.((name) => queue.add(name));
  onAbort(signal, () => stops.forEach((stop) => stop()));
  for (const service of apiServices.informer.list('')) {
    checker.noteChange(service, undefined);
    queue.add(service.metadata.name!);
  }
}

class Checker {
  readonly #apiServices: ResourceClient<APIService>;
  readonly #services: ResourceClient<Service>;
  readonly #slices: ResourceClient<EndpointSlice>;
  readonly #options: RemoteAvailabilityOptions;
  /** Names of APIServices by their service, `namespace/name`: services change often, and few are of interest. */
  readonly #byService = new Map<string, Set<string>>();
  readonly #failures = new Map<string, number>();

  constructor(
    apiServices: ResourceClient<APIService>,
    services: ResourceClient<Service>,
    slices: ResourceClient<EndpointSlice>,
    options: RemoteAvailabilityOptions,
  ) {
    this.#apiServices = apiServices;
    this.#services = services;
    this.#slices = slices;
    this.#options = options;
  }

  ofService(key: string): ReadonlySet<string> {
    return this.#byService.get(key) ?? NONE;
  }

  noteChange(service: APIService | undefined, old: APIService | undefined): void {
    if (old?.spec.service) {
      const names = this.#byService.get(keyOf(old.spec.service));
      names?.delete(old.metadata.name!);
      if (names?.size === 0) this.#byService.delete(keyOf(old.spec.service));
    }
    if (!service?.spec.service) return;
    const key = keyOf(service.spec.service);
    this.#byService.set(key, (this.#byService.get(key) ?? new Set()).add(service.metadata.name!));
  }

  /** Answers after how many milliseconds to look again. */
  async check(name: string): Promise<number | void> {
    const apiService = this.#apiServices.informer.get('', name);
    if (!apiService?.spec.service) {
      this.#failures.delete(name);
      // It may have been another server's before.
      if (apiService) await this.#write(apiService, locally(this.#options.now()));
      return;
    }
    const { namespace = '', name: serviceName = '' } = apiService.spec.service;
    const service = this.#services.informer.get(namespace, serviceName);
    const ofService = this.#slices.informer.list(namespace).filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === serviceName);
    const found = obstacle(apiService.spec.service, service, ofService);
    const availability = found ?? (await answer(name, this.#options.reach));
    await this.#write(apiService, availability);
    if (found || availability === PASSED) {
      this.#failures.delete(name);
      return RECHECK_MS;
    }
    const failures = this.#failures.get(name) ?? 0;
    this.#failures.set(name, failures + 1);
    return Math.min(FIRST_RETRY_MS * 2 ** failures, LAST_RETRY_MS);
  }

  async #write({ metadata, status }: APIService, availability: Availability): Promise<void> {
    const { now, onUnavailable } = this.#options;
    const isSame = (condition: APIServiceCondition | undefined): boolean =>
      condition?.status === availability.status && condition.reason === availability.reason && condition.message === availability.message;
    const before = availableCondition(status);
    if (isSame(before)) return;
    try {
      await this.#apiServices.update(
        '',
        metadata.name!,
        (current) => (isSame(availableCondition(current.status)) ? false : writeCondition(current, availability, now())),
        'status',
      );
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
      return;
    }
    if (before?.status === 'True' && availability.status !== 'True') onUnavailable?.(metadata.name!, availability.reason!);
  }
}

const locally = (now: Date): Availability => {
  const { status, reason, message } = locallyAvailable(now);
  return { status, reason, message };
};

const NONE: ReadonlySet<string> = new Set();
const keyOf = ({ namespace = '', name = '' }: ServiceReference): string => `${namespace}/${name}`;

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

async function answer(name: string, reach: RemoteAvailabilityOptions['reach']): Promise<Availability> {
  try {
    await reach(name);
    return PASSED;
  } catch (error) {
    return { status: 'False', reason: 'FailedDiscoveryCheck', message: (error as Error).message };
  }
}

const availableCondition = ({ conditions }: APIService['status']): APIServiceCondition | undefined => conditions?.find(({ type }) => type === 'Available');

/** Its time changes with its status only. */
function writeCondition(apiService: APIService, availability: Availability, now: Date): void {
  const old = availableCondition(apiService.status);
  const lastTransitionTime = old?.lastTransitionTime && old.status === availability.status ? old.lastTransitionTime : timeOf(now);
  const condition = { type: 'Available', ...availability, lastTransitionTime };
  const conditions = apiService.status.conditions ?? [];
  apiService.status.conditions = old ? conditions.map((other) => (other.type === 'Available' ? condition : other)) : [...conditions, condition];
}
