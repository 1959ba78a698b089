import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import type { RemoteVersion } from '../server/remote-apis.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { isJsonObject } from '../encoding/json.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { RemoteResourceClient } from './remote-client.ts';
import type { RemoteApi } from './remote-api.ts';
import { onAbort } from '../util/on-abort.ts';

export interface RemoteResourcesOptions {
  /** What other servers have, as far as discovery knows. */
  versions(): readonly RemoteVersion[];
  /** The way to a group-version. */
  api(group: string, version: string): RemoteApi | undefined;
  onChange(listener: () => void): void;
  signal: AbortSignal;
}

interface Known {
  identity: ResourceIdentity;
  client: RemoteResourceClient;
  /** Ends its informer. */
  stop: AbortController;
}

/**
 * The API as controllers see it that must know all objects, whoever serves them: owners and dependents may live on aggregated servers, and so may what is in
 * a namespace (pkg/controller/garbagecollector and pkg/controller/namespace find their resources by discovery).
 */
export class WholeClient implements Client {
  readonly #local: Client;
  readonly #options: RemoteResourcesOptions;
  readonly #remote = new Map<string, Known>();
  readonly #listeners = new Set<() => void>();

  constructor(local: Client, options: RemoteResourcesOptions) {
    this.#local = local;
    this.#options = options;
    const changed = (): void => this.#listeners.forEach((listener) => listener());
    options.onChange(() => {
      if (this.#update()) changed();
    });
    onAbort(options.signal, () => this.#remote.forEach(({ stop }) => stop.abort()));
    this.#update();
  }

  resource<T extends ApiObject = ApiObject>(group: string, plural: string, fieldManager?: string): ResourceClient<T> {
    const known = this.#remote.get(`${group}/${plural}`);
    if (!known) return this.#local.resource<T>(group, plural, fieldManager);
    return known.client.as(fieldManager, known.stop.signal) as unknown as ResourceClient<T>;
  }

  resources(): ResourceIdentity[] {
    return [...this.#local.resources(), ...Array.from(this.#remote.values(), ({ identity }) => identity)];
  }

  undiscovered(): readonly string[] {
    const stale = this.#options.versions().filter(({ discovery }) => discovery['freshness'] === 'Stale');
    return stale.map(({ group, version }) => apiVersionOf(group, version)).toSorted();
  }

  onResourcesChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    const stop = this.#local.onResourcesChange(listener);
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  /** Identities that stay the same stay the same object. Answers whether any has changed. */
  #update(): boolean {
    const found = new Map(identitiesOf(this.#options.versions()).map((identity) => [`${identity.group}/${identity.plural}`, identity]));
    let hasChanged = false;
    for (const [key, { identity, stop }] of this.#remote) {
      if (equalJson(found.get(key), identity)) found.delete(key);
      else {
        stop.abort();
        this.#remote.delete(key);
        hasChanged = true;
      }
    }
    for (const [key, identity] of found) {
      const stop = new AbortController();
      const api = (): RemoteApi | undefined => this.#options.api(identity.group, identity.version);
      this.#remote.set(key, { identity, client: new RemoteResourceClient(identity, api, stop.signal), stop });
      hasChanged = true;
    }
    return hasChanged;
  }
}

/** Of several versions, the preferred one is spoken; owners may be named in any. */
function identitiesOf(versions: readonly RemoteVersion[]): ResourceIdentity[] {
  const identities = new Map<string, ResourceIdentity>();
  for (const { group, version, discovery } of versions.toSorted((a, b) => b.versionPriority - a.versionPriority)) {
    for (const resource of Array.isArray(discovery['resources']) ? discovery['resources'].filter(isJsonObject) : []) {
      const key = `${group}/${String(resource['resource'])}`;
      const apiVersions = [...(identities.get(key)?.apiVersions ?? []), apiVersionOf(group, version)];
      identities.set(key, { ...(identities.get(key) ?? identityOf(group, version, resource)), apiVersions });
    }
  }
  return [...identities.values()];
}

function identityOf(group: string, version: string, { resource, responseKind, scope, verbs }: JsonObject): ResourceIdentity {
  return {
    group,
    version,
    plural: String(resource),
    kind: isJsonObject(responseKind!) ? String(responseKind['kind']) : '',
    apiVersions: [],
    namespaced: scope === 'Namespaced',
    verbs: (verbs as string[] | undefined) ?? [],
    isRemote: true,
  };
}
