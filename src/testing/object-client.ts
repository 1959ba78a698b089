import type { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import { readManifests } from './manifests.ts';
import type { KindReference, KubernetesObject, ListReference, ManifestSource, ObjectReference } from './objects.ts';
import { ResourcePaths } from './resource-paths.ts';
import { untilServed } from './served.ts';

/** Whose fields those of an apply are. */
const FIELD_MANAGER = 'binnacle-test';
/** What others of the same manifests stand on: a namespace before what is in it, a definition before its objects. */
const FIRST_KINDS = ['Namespace', 'CustomResourceDefinition'];

/** Reads and writes of objects by their kind and name. */
export class ObjectClient {
  readonly client: ApiClient;
  readonly paths: ResourcePaths;

  constructor(client: ApiClient) {
    this.client = client;
    this.paths = new ResourcePaths(client);
  }

  async get(reference: ObjectReference): Promise<KubernetesObject> {
    return this.client.request('GET', await this.paths.object(reference));
  }

  async list(reference: ListReference): Promise<KubernetesObject[]> {
    const { labelSelector, fieldSelector, namespace } = reference;
    const query = new URLSearchParams({ ...(labelSelector && { labelSelector }), ...(fieldSelector && { fieldSelector }) });
    const { items } = await this.client.request<{ items: KubernetesObject[] }>('GET', `${await this.paths.collection(reference, namespace)}?${query}`);
    // Items of a list leave out what the list says once.
    return items.map((item) => ({ apiVersion: reference.apiVersion, kind: reference.kind, ...item }));
  }

  async create(object: KubernetesObject): Promise<KubernetesObject> {
    return this.client.request('POST', await this.paths.collectionOfOne(kindOf(object), object.metadata?.namespace), { body: object });
  }

  async delete(reference: ObjectReference): Promise<void> {
    await this.client.request('DELETE', await this.paths.object(reference));
  }

  /** Server-side apply of all objects, in an order in which they can be; settles when definitions among them are served. */
  async apply(source: ManifestSource): Promise<KubernetesObject[]> {
    const objects = await readManifests(source);
    const rank = ({ kind }: KubernetesObject): number => (FIRST_KINDS.includes(kind!) ? FIRST_KINDS.indexOf(kind!) : FIRST_KINDS.length);
    const applied: KubernetesObject[] = [];
    for (const object of objects.toSorted((a, b) => rank(a) - rank(b))) applied.push(await this.#applyOne(object));
    return applied;
  }

  /** Applies the definitions among the objects of the source, at once, and waits until all of them are served. */
  async installDefinitions(source: ManifestSource): Promise<void> {
    const definitions = (await readManifests(source)).filter(({ kind }) => kind === 'CustomResourceDefinition');
    if (definitions.length === 0) throw new Error('there is no CustomResourceDefinition in what `crds` names');
    await Promise.all(definitions.map((definition) => this.#applyOne(definition)));
  }

  async #applyOne(object: KubernetesObject): Promise<KubernetesObject> {
    const { name, namespace } = object.metadata ?? {};
    if (name === undefined) throw new Error(`a ${object.kind} without metadata.name cannot be applied; create it`);
    const path = await this.paths.object({ ...kindOf(object), name, namespace });
    const applied = await this.client.request<KubernetesObject>('PATCH', `${path}?fieldManager=${FIELD_MANAGER}&force=true`, {
      body: object,
      contentType: 'application/apply-patch+yaml',
    });
    if (object.kind === 'CustomResourceDefinition') await untilServed(this.client, applied);
    return applied;
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.code === 404;

function kindOf({ apiVersion, kind }: KubernetesObject): KindReference {
  if (apiVersion === undefined || kind === undefined) throw new Error('an object must have apiVersion and kind');
  return { apiVersion, kind };
}
