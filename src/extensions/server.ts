import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import { definitionControllers } from './definition-controllers.ts';

export interface ExtensionsOptions {
  environment: EndpointEnvironment;
  /** The extensions' own group: CustomResourceDefinitions. */
  ownVersion: ApiVersion;
  client: InProcessClient;
  /** Hears of failures that are tried again. */
  report(error: Error): void;
  now: () => Date;
}

/** The tail of the chain: CustomResourceDefinitions and what is told of them in their status. (The resources that they define come with their own issue.) */
export function createExtensions({ environment, ownVersion, client, report, now }: ExtensionsOptions, delegate: Handler): GenericServer {
  const server = new GenericServer('extensions', environment, delegate);
  server.install(ownVersion);
  server.postStartHooks.push(definitionControllers(client, { report, now, deleteInstances: async () => {} }));
  return server;
}
