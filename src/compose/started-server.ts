/** The embeddable server, as programs that start one see it; `src/index.ts` gives these out, so they stand on nothing else. */
export interface StartOptions {
  /** Keep the objects here, in the embedded store, over restarts. Default: in memory, gone when the server stops. */
  dataDir?: string;
  /** Default: any free one. */
  port?: number;
  /** Behave as this version of Kubernetes, `1.34`: its APIs, features and defaults. Default: the newest. */
  emulatedVersion?: string;
  /** Serve the page that shows the server live; `consoleLink` gives a link to it. Default: false. */
  console?: boolean;
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
