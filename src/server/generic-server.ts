import { serveResource } from '../endpoints/dispatch.ts';
import type { Handler, RequestInfo, ServerRequest } from '../endpoints/request.ts';
import type { EndpointEnvironment, ResourceTarget } from '../endpoints/target.ts';
import { genericNotFound } from '../util/errors.ts';
import type { ApiVersion, InstalledResource } from './api-version.ts';
import type { HealthCheck } from './health.ts';
import type { PostStartHook, PreShutdownHook } from './hooks.ts';

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
  readonly #prefixes: { prefix: string; handler: Handler }[] = [];

  constructor(name: string, environment: EndpointEnvironment, delegate: Handler) {
    this.name = name;
    this.#environment = environment;
    this.#delegate = delegate;
  }

  /** Serves a group-version, in place of what stood there. */
  install(version: ApiVersion): void {
    const versions = this.#groups.get(version.group) ?? new Map<string, InstalledVersion>();
    versions.set(version.version, { api: version, targets: new Map([...version.resources].map(([plural, resource]) => [plural, this.#targetsOf(resource)])) });
    this.#groups.set(version.group, versions);
  }

  get versions(): ApiVersion[] {
    return [...this.#groups.values()].flatMap((versions) => [...versions.values()].map(({ api }) => api));
  }

  /** Serves a path that is no resource. */
  route(path: string, handler: Handler): void {
    this.#paths.set(path, handler);
  }
  /** Serves every path below a prefix, which ends in a slash. */
  routePrefix(prefix: string, handler: Handler): void {
    this.#prefixes.push({ prefix, handler });
  }
  get paths(): string[] {
    return [...this.#paths.keys(), ...this.#prefixes.map(({ prefix }) => prefix)];
  }

  readonly handle: Handler = (request) => (request.info.isResourceRequest ? this.#serveResource(request) : this.#servePath(request));

  #servePath(request: ServerRequest): Promise<void> | void {
    const { path } = request.info;
    const handler = this.#paths.get(path) ?? this.#prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
    return (handler ?? this.#delegate)(request);
  }

  #serveResource(request: ServerRequest): Promise<void> | void {
    const { info } = request;
    const versions = this.#groups.get(info.apiGroup);
    if (!versions) return this.#delegate(request);
    const targets = versions.get(info.apiVersion)?.targets.get(info.resource);
    const target = targets && (info.subresource === '' ? targets.whole : targets.subresources.get(info.subresource));
    if (!target || !isPathOf(target, info)) throw genericNotFound();
    return serveResource(request, target);
  }

  #targetsOf({ store, served, isCustom, subresources }: InstalledResource): Targets {
    const whole: ResourceTarget = { store, served, isCustom, environment: this.#environment };
    return { whole, subresources: new Map(Object.entries(subresources).map(([name, subresource]) => [name, { ...whole, subresource }])) };
  }
}

interface InstalledVersion {
  api: ApiVersion;
  targets: Map<string, Targets>;
}

interface Targets {
  whole: ResourceTarget;
  subresources: Map<string, ResourceTarget>;
}

/**
 * Whether the path's shape is one that the resource has: a cluster-scoped resource has none below a namespace (CVE-2019-11247), a namespaced one
 * has names only there, and nothing but a proxied path goes on behind the subresource.
 */
function isPathOf({ store: { definition }, subresource }: ResourceTarget, info: RequestInfo): boolean {
  const isInNamespace = info.namespace !== '' && !(info.resource === 'namespaces' && info.apiGroup === '');
  if (isInNamespace && !definition.namespaced) return false;
  if (!isInNamespace && definition.namespaced && info.parts.length > 1) return false;
  return info.parts.length <= 3 || (subresource?.kind.endsWith('ProxyOptions') ?? false);
}
