import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { GenericServer } from '../server/generic-server.ts';

/** The tail of the chain: CustomResourceDefinitions as objects. (The resources that they define come with their own issue.) */
export function createExtensions(environment: EndpointEnvironment, ownVersion: ApiVersion, delegate: Handler): GenericServer {
  const server = new GenericServer('extensions', environment, delegate);
  server.install(ownVersion);
  return server;
}
