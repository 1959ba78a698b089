import { serveResource } from '../endpoints/dispatch.ts';
import type { Handler, RequestInfo, ServerRequest } from '../endpoints/request.ts';
import type { EndpointEnvironment, ResourceTarget } from '../endpoints/target.ts';
import { genericNotFound } from '../util/errors.ts';
import type { ApiVersion, InstalledResource } from '../registry/api-version.ts';
import type { HealthCheck } from './health.ts';
import type { PostStartHook, PreShutdownHook } from './hooks.ts';
import { hasPath } from './served-path.ts';

/**
 * One server of the chain: its API groups, its other paths, its hooks and checks. It answers what it knows and hands the rest to its delegate;
 * filters, discovery and health stand in front of the whole chain (`chain.ts`).
 */
export class GenericServer {
  readonly name: string;
  readonly postStartHooks: PostStartHook[] = [];
  readonly preShutdownHooks: PreShutdownHook[] = [];
  readonly healthChecks: HealthCheck[] = [];
  readonly #environment: EndpointEnvironment;
  readonly #delegate: Handler;
  /** Group, then version, then plural and subresource: three lookups a request, and no string is built for them. */
  readonly #groups = new Map<string, Map<string, InstalledVersion>>();
  readonly #paths = new Map<string, Handler>();
  readonly #unlistedPaths = new Set<string>();
  #generation = 0;
  readonly #prefixes: { prefix: string; handler: Handler }[] = [];
  readonly #missing: Handler;

  /** `missing` answers for resources that groups of this server do not have. */
  constructor(name: string, environment: EndpointEnvironment, delegate: Handler, missing: Handler = refuseMissing) {
    this.#missing = missing;
    this.name = name;
    this.#environment = environment;
    this.#delegate = delegate;
  }

  /** Serves a group-version, in place of what stood there. */
  install(version: ApiVersion): void {
    const versions = this.#groups.get(version.group) ?? new Map<string, InstalledVersion>();
    const former = versions.get(version.version);
    const targets = new Map<string, Targets>();
    for (const [plural, resource] of version.resources) {
      // What has not changed keeps what was made for it.
      const isSame = former?.api.resources.get(plural) === resource;
      targets.set(plural, isSame ? former!.targets.get(plural)! : this.#targetsOf(resource));
    }
    versions.set(version.version, { api: version, targets });
    this.#groups.set(version.group, versions);
    this.#generation++;
  }

  uninstall(group: string, version: string): void {
    const versions = this.#groups.get(group);
    if (!versions?.delete(version)) return;
    if (versions.size === 0) this.#groups.delete(group);
    this.#generation++;
  }

  /** Grows whenever what is installed changes. */
  get generation(): number {
    return this.#generation;
  }

  get versions(): ApiVersion[] {
    return [...this.#groups.values()].flatMap((versions) => [...versions.values()].map(({ api }) => api));
  }

  hasResource(info: RequestInfo): boolean {
    return this.#targetOf(info) !== undefined;
  }

  /** Serves a path that is no resource. */
  route(path: string, handler: Handler, { isListed = true } = {}): void {
    this.#paths.set(path, handler);
    if (!isListed) this.#unlistedPaths.add(path);
  }
  /** Serves every path below a prefix, which ends in a slash. */
  routePrefix(prefix: string, handler: Handler): void {
    this.#prefixes.push({ prefix, handler });
  }
  /** Those that are listed. */
  get paths(): string[] {
    return [...[...this.#paths.keys()].filter((path) => !this.#unlistedPaths.has(path)), ...this.#prefixes.map(({ prefix }) => prefix)];
  }

  readonly handle: Handler = (request) => (request.info.isResourceRequest ? this.#serveResource(request) : this.#servePath(request));

  #servePath(request: ServerRequest): Promise<void> | void {
    const { path } = request.info;
    const handler = this.#paths.get(path) ?? this.#prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
    return (handler ?? this.#delegate)(request);
  }

  #serveResource(request: ServerRequest): Promise<void> | void {
    const { info } = request;
    if (!this.#groups.has(info.apiGroup)) return this.#delegate(request);
    const target = this.#targetOf(info);
    if (!target || !hasPath(target.store.definition.namespaced, info)) return this.#missing(request);
    return serveResource(request, target);
  }

  #targetOf({ apiGroup, apiVersion, resource, subresource }: RequestInfo): ResourceTarget | undefined {
    const targets = this.#groups.get(apiGroup)?.get(apiVersion)?.targets.get(resource);
    return subresource === '' ? targets?.whole : targets?.subresources.get(subresource);
  }

  #targetsOf({ store, served, isCustom, subresources }: InstalledResource): Targets {
    const whole: ResourceTarget = { store, served, isCustom, environment: this.#environment };
    return { whole, subresources: new Map(Object.entries(subresources).map(([name, subresource]) => [name, { ...whole, subresource }])) };
  }
}

const refuseMissing: Handler = () => {
  throw genericNotFound();
};

interface InstalledVersion {
  api: ApiVersion;
  targets: Map<string, Targets>;
}

interface Targets {
  whole: ResourceTarget;
  subresources: Map<string, ResourceTarget>;
}
