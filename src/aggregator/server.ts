import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import { keepRemoteAvailability } from './remote-availability.ts';
import { type CustomVersions, keepCustomApiServices } from './custom-api-services.ts';
import { type ApiService, registerLocalApiServices } from './local-api-services.ts';

export interface AggregatorOptions {
  environment: EndpointEnvironment;
  /** The aggregator's own group: APIServices. */
  ownVersion: ApiVersion;
  /** What the servers behind it serve, to be registered. */
  localVersions: readonly ApiVersion[];
  /** What definitions add to that, as they come and go. */
  customVersions: CustomVersions;
  client: InProcessClient;
  /** Hears of failures that are tried again. */
  report(error: Error): void;
  now: () => Date;
}

/**
 * The head of the chain. It knows which group-version is served where: here so far only by the servers behind it, to which everything else is handed on
 * (servers elsewhere, behind APIServices with a `service`, come with their own issue: a request for theirs is not found until then).
 */
export function createAggregator(
  { environment, ownVersion, localVersions, customVersions, client, report, now }: AggregatorOptions,
  delegate: Handler,
): GenericServer {
  const server = new GenericServer('aggregator', environment, delegate);
  server.install(ownVersion);
  let isRegistered = false;
  server.healthChecks.push({
    name: 'autoregister-completion',
    check() {
      if (!isRegistered) throw new Error('missing APIServices: the first registration is not complete');
    },
  });
  server.postStartHooks.push({
    name: 'kube-apiserver-autoregistration',
    async run(signal) {
      const apiServices = client.resource<ApiService>('apiregistration.k8s.io', 'apiservices');
      await registerLocalApiServices(apiServices, localVersions, now);
      isRegistered = true;
      await keepCustomApiServices(apiServices, customVersions, { signal, report, now });
    },
  });
  server.postStartHooks.push({
    name: 'apiservice-status-remote-available-controller',
    run: (signal) => keepRemoteAvailability(client, { signal, report, now, reach }),
  });
  return server;
}

/** Until requests are proxied, no server elsewhere can be reached. */
const reach = (): Promise<void> => Promise.reject(new Error('proxying to other API servers is still to come'));
