import type { ListedVersion, RemoteApis, RemoteDocument, RemoteVersion } from '../server/remote-apis.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { LocalRegistrations } from './local-registrations.ts';
import type { RemoteApi } from './remote-api.ts';
import type { RemoteDiscovery } from './remote-discovery.ts';
import type { RemoteOpenApi } from './remote-openapi.ts';
import type { RemoteRegistry } from './remote-registry.ts';

/** What other servers add to this one's documents, made once for each change. */
export class MergedApis implements RemoteApis {
  readonly #registry: RemoteRegistry;
  readonly #registrations: Pick<LocalRegistrations, 'versions'>;
  readonly #discovery: Pick<RemoteDiscovery, 'entry'>;
  readonly #openApi: Pick<RemoteOpenApi, 'v2' | 'v3'>;
  readonly #listeners: (() => void)[] = [];
  #versions: readonly RemoteVersion[] | undefined;
  #openApiV2: readonly JsonObject[] | undefined;
  #openApiV3: ReadonlyMap<string, RemoteDocument> | undefined;

  constructor(
    registry: RemoteRegistry,
    registrations: Pick<LocalRegistrations, 'versions'>,
    discovery: Pick<RemoteDiscovery, 'entry'>,
    openApi: Pick<RemoteOpenApi, 'v2' | 'v3'>,
  ) {
    this.#registry = registry;
    this.#registrations = registrations;
    this.#discovery = discovery;
    this.#openApi = openApi;
    registry.onChange(() => {
      this.noteDiscovery();
      this.noteOpenApi();
    });
  }

  noteDiscovery(): void {
    this.#versions = undefined;
    for (const listener of this.#listeners) listener();
  }

  /** Called when `versions` has become another. */
  onDiscovery(listener: () => void): void {
    this.#listeners.push(listener);
  }

  noteOpenApi(): void {
    this.#openApiV2 = undefined;
    this.#openApiV3 = undefined;
  }

  versions(): readonly RemoteVersion[] {
    return (this.#versions ??= [...this.#registry.all()].map((api) => this.#versionOf(api)));
  }

  registered(): readonly ListedVersion[] | undefined {
    return this.#registrations.versions();
  }

  openApiV2(): readonly JsonObject[] {
    return (this.#openApiV2 ??= this.#byPriority()
      .map((api) => this.#openApi.v2(api))
      .filter((document) => document !== undefined));
  }

  openApiV3(): ReadonlyMap<string, RemoteDocument> {
    return (this.#openApiV3 ??= this.#mergeV3());
  }

  /** Of one path, the first server's by priority. */
  #mergeV3(): ReadonlyMap<string, RemoteDocument> {
    const documents = new Map<string, RemoteDocument>();
    for (const api of this.#byPriority()) for (const [path, document] of this.#openApi.v3(api) ?? []) if (!documents.has(path)) documents.set(path, document);
    return documents;
  }

  #versionOf(api: RemoteApi): RemoteVersion {
    const { group = '', version = '', groupPriorityMinimum, versionPriority } = api.service.spec;
    return { group, version, groupPriorityMinimum, versionPriority, discovery: this.#discovery.entry(api) };
  }

  /** Groups by their highest priority, then by name (kube-aggregator/pkg/controllers/openapi/aggregator/priority.go). */
  #byPriority(): RemoteApi[] {
    const groups = new Map<string, number>();
    for (const { group, service } of this.#registry.all()) groups.set(group, Math.max(groups.get(group) ?? 0, service.spec.groupPriorityMinimum));
    return [...this.#registry.all()].sort((a, b) => groups.get(b.group)! - groups.get(a.group)! || (a.name < b.name ? -1 : 1));
  }
}
