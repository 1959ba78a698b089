import { startEmbedded } from './cli/embedded.ts';

export interface StartOptions {
  /** Keep the objects here, in the embedded store, over restarts. Default: in memory, gone when the server stops. */
  dataDir?: string;
  /** Default: any free one. */
  port?: number;
  /** Flags of `binnacle serve`, as on its command line: `['--runtime-config=api/all=true']`. */
  flags?: readonly string[];
}

export interface StartedServer {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  /** A kubeconfig for an administrator, as text: `new KubeConfig().loadFromString(server.kubeconfig)`. */
  readonly kubeconfig: string;
  /** The same, as a file for kubectl, for as long as the server runs. */
  readonly kubeconfigFile: string;
  /** What clients trust, as PEM. */
  readonly caCertificate: string;
  /** Shuts the server down; what was in memory or in temporary files is gone. May be called again. */
  stop(): Promise<void>;
}

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
