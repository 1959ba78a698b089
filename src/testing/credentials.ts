export interface UserRequest {
  name: string;
  /** `system:masters` may do everything; others need a role that is bound to them. */
  groups?: readonly string[];
}

/** Whoever can talk to the server: `new KubeConfig().loadFromString(user.kubeconfig)`. */
export interface Credentials {
  /** The name by which the server knows it, and by which a role is bound to it. */
  readonly name: string;
  readonly kubeconfig: string;
  /** The same as a file, for as long as the server runs. */
  readonly kubeconfigFile: string;
}

export interface TestUser extends Credentials {
  /** The client certificate, and its key, as PEM. */
  readonly certificate: string;
  readonly key: string;
}

export interface ServiceAccountRequest {
  name: string;
  /** Default: `default`. It must exist. */
  namespace?: string;
  /** A ClusterRole that it is to have in all namespaces: `cluster-admin`, `view`, … */
  clusterRole?: string;
}

export interface TestServiceAccount extends Credentials {
  readonly token: string;
}
