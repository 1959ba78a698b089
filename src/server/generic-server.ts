import { serveResource, tellOfDeprecation } from '../endpoints/dispatch.ts';
import type { Handler, RequestInfo, ServerRequest } from '../endpoints/request.ts';
import type { EndpointEnvironment, ResourceTarget } from '../endpoints/target.ts';
import { genericNotFound } from '../api/errors.ts';
import type { ApiVersion, InstalledResource } from '../registry/api-version.ts';
import type { HealthCheck } from './health.ts';
import type { PostStartHook, PreShutdownHook } from './hooks.ts';
import { servesPath } from './served-path.ts';

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

  /** Serves a group-version, in place of what stood there; only the resources `changed` are others than they were. */
  install(version: ApiVersion, changed: Iterable<string> = version.resources.keys()): void {
    const versions = this.#groups.get(version.group) ?? new Map<string, InstalledVersion>();
    const targets = versions.get(version.version)?.targets ?? new Map<string, Targets>();
    for (const plural of changed) {
      const resource = version.resources.get(plural);
      if (resource === undefined) targets.delete(plural);
      else targets.set(plural, this.#targetsOf(resource));
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

  /** At the path by which it is asked for. */
  hasResource(info: RequestInfo): boolean {
    return this.targetOf(info) !== undefined;
  }

  /** What a request for a resource is about; undefined where it is not served. */
  targetOf(info: RequestInfo): ResourceTarget | undefined {
    const target = this.#targetOf(info);
    return target && isServedAt(target, info) ? target : undefined;
  }

  /** Serves a path that is no resource. */
  route(path: string, handler: Handler, { isListed = true } = {}): void {
    this.#paths.set(path, handler);
    if (!isListed) this.#unlistedPaths.add(path);
  }
  /** Serves every path below a prefix, which ends in a slash. None is listed. */
  routePrefix(prefix: string, handler: Handler): void {
    this.#prefixes.push({ prefix, handler });
  }
  /** Those that are listed. */
  get paths(): string[] {
    return [...this.#paths.keys()].filter((path) => !this.#unlistedPaths.has(path));
  }

  readonly handle: Handler = (request) => (request.info.isResourceRequest ? this.#serveResource(request) : this.#servePath(request));

  #servePath(request: ServerRequest): Promise<void> | void {
    const { path } = request.info;
    const handler = this.#paths.get(path) ?? this.#prefixes.find(({ prefix }) => path.startsWith(prefix))?.handler;
    return (handler ?? this.#delegate)(request);
  }

  #serveResource(request: ServerRequest): Promise<void> | void {
    const { info } = request;
    if (!this.#groups.has(info.apiGroup) || !isAtItsRoot(info)) return this.#delegate(request);
    const target = this.#targetOf(info);
    if (!target) {
      // The resource is there, and tells that it is deprecated, before its subresource is found not to be.
      const whole = this.#targetOf({ ...info, subresource: '' });
      if (whole?.isCustom && isServedAt(whole, info)) tellOfDeprecation(request, whole);
      return this.#missing(request);
    }
    if (!isServedAt(target, info)) return this.#missing(request);
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

/** A custom resource that has namespaces is not there outside of them, but to be read (…/apiserver/customresource_handler.go). */
function isServedAt({ store, isCustom }: ResourceTarget, info: RequestInfo): boolean {
  const { namespaced, verbs } = store.definition;
  // What can only be created has no paths of single ones.
  if (info.name !== '' && info.subresource === '' && verbs.length === 1 && verbs[0] === 'create') return false;
  const isRead = info.verb === 'list' || info.verb === 'watch';
  return servesPath(namespaced, info) && (!isCustom || !namespaced || info.namespace !== '' || isRead);
}

const SLASH = 47;

/** `//api/v1/pods` and `/apis//v1/pods` are read as requests for pods, but nothing is routed there: upstream's paths are compared as they are written. */
const isAtItsRoot = ({ path, apiPrefix, apiGroup }: RequestInfo): boolean => path.charCodeAt(1) !== SLASH && (apiPrefix === 'api') === (apiGroup === '');

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
