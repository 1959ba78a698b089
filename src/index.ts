import { startEmbedded } from './compose/embedded.ts';
import type { StartOptions, StartedServer } from './compose/started-server.ts';

export type { StartOptions, StartedServer } from './compose/started-server.ts';

/**
 * Starts an API server in this process, on the loopback address, with RBAC and an administrator; it answers once this settles.
 *
 * ```ts
 * const server = await startServer();
 * const config = new KubeConfig();
 * config.loadFromString(server.kubeconfig);
 * // …
 * await server.stop();
 * ```
 */
export const startServer = (options: StartOptions = {}): Promise<StartedServer> => startEmbedded(options);
