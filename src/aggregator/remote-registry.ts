import type { APIService } from '../apis/facts/types/apiregistration-v1.ts';
import type { Informer } from '../client/client.ts';
import type { Handler, RequestInfo } from '../endpoints/request.ts';
import { RemoteApi, type RemoteEnvironment } from './remote-api.ts';

/**
 * The group-versions that are served elsewhere, as the APIServices say, at every moment: a request that comes after the answer to a registration finds it
 * (kube-aggregator's apiservice-registration-controller).
 */
export class RemoteRegistry {
  readonly #environment: RemoteEnvironment;
  readonly #byName = new Map<string, RemoteApi>();
  /** Group, then version: two lookups a request. */
  readonly #byGroup = new Map<string, Map<string, RemoteApi>>();
  readonly #listeners: ((name: string) => void)[] = [];
  readonly #unreachableListeners: ((name: string) => void)[] = [];

  constructor(environment: RemoteEnvironment) {
    this.#environment = environment;
  }

  /** Resolves when all that is stored is known. */
  async follow(apiServices: Informer<APIService>): Promise<void> {
    await apiServices.synced;
    apiServices.onChange((service, old) => this.#set((service ?? old)!.metadata.name!, service));
    for (const service of apiServices.list('')) this.#set(service.metadata.name!, service);
  }

  /** Called with the name of an APIService that came, changed or went. */
  onChange(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Called with the name of one whose server a request did not reach. */
  onUnreachable(listener: (name: string) => void): void {
    this.#unreachableListeners.push(listener);
  }

  get(name: string): RemoteApi | undefined {
    return this.#byName.get(name);
  }

  all(): IterableIterator<RemoteApi> {
    return this.#byName.values();
  }

  serving(group: string, version: string): RemoteApi | undefined {
    return this.#byGroup.get(group)?.get(version);
  }

  /** Whose a request is; undefined where it is the chain's own. */
  find({ isResourceRequest, apiGroup, apiVersion, path }: RequestInfo): RemoteApi | undefined {
    if (this.#byName.size === 0) return undefined;
    if (isResourceRequest) return this.#byGroup.get(apiGroup)?.get(apiVersion);
    const [root, prefix, group, version, ...more] = path.split('/', 6);
    if (root !== '' || prefix !== 'apis' || !group || !version || more.some((part) => part !== '')) return undefined;
    return this.#byGroup.get(group)?.get(version);
  }

  /** Sends requests for what is elsewhere there, all others on. */
  before(next: Handler): Handler {
    return (request) => (this.find(request.info)?.handle ?? next)(request);
  }

  /** After a change of our own certificate. */
  refreshTls(): void {
    for (const api of this.#byName.values()) api.refreshTls();
  }

  close(): void {
    for (const api of this.#byName.values()) api.close();
  }

  #set(name: string, service: APIService | undefined): void {
    const known = this.#byName.get(name);
    if (service?.spec.service === undefined) {
      if (!known) return;
      this.#remove(known);
    } else if (known) known.update(service);
    else this.#add(new RemoteApi(service, this.#environment, (unreachable) => this.#unreachableListeners.forEach((listener) => listener(unreachable))));
    for (const listener of this.#listeners) listener(name);
  }

  #add(api: RemoteApi): void {
    this.#byName.set(api.name, api);
    const versions = this.#byGroup.get(api.group) ?? new Map<string, RemoteApi>();
    this.#byGroup.set(api.group, versions.set(api.version, api));
  }

  #remove(api: RemoteApi): void {
    this.#byName.delete(api.name);
    const versions = this.#byGroup.get(api.group)!;
    versions.delete(api.version);
    if (versions.size === 0) this.#byGroup.delete(api.group);
    api.retire();
  }
}
