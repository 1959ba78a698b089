import type { ApiClient } from './api-client.ts';
import type { KindReference } from './objects.ts';

interface Resource {
  name: string;
  kind: string;
  namespaced: boolean;
}

const DEFAULT_NAMESPACE = 'default';

/** Where the objects of a kind are, as discovery says it; asked once a group version, and again for a kind that it did not have. */
export class ResourcePaths {
  readonly #client: ApiClient;
  readonly #known = new Map<string, readonly Resource[]>();

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** The path of a kind's objects: of one namespace, or where the kind has none or none is named, of all. */
  async collection({ apiVersion, kind }: KindReference, namespace?: string): Promise<string> {
    const { name, namespaced } = await this.#resource(apiVersion, kind);
    return `${rootOf(apiVersion)}${namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''}/${name}`;
  }

  /** The path of the collection that an object is created in. */
  collectionOfOne(reference: KindReference, namespace = DEFAULT_NAMESPACE): Promise<string> {
    return this.collection(reference, namespace);
  }

  async object(reference: KindReference & { name: string; namespace?: string | undefined }): Promise<string> {
    return `${await this.collectionOfOne(reference, reference.namespace)}/${encodeURIComponent(reference.name)}`;
  }

  /** What is served may have become another. */
  forget(): void {
    this.#known.clear();
  }

  async #resource(apiVersion: string, kind: string): Promise<Resource> {
    const known = this.#known.get(apiVersion)?.find((resource) => resource.kind === kind);
    if (known) return known;
    const { resources } = await this.#client.request<{ resources: Resource[] }>('GET', rootOf(apiVersion));
    const own = resources.filter(({ name }) => !name.includes('/'));
    this.#known.set(apiVersion, own);
    const found = own.find((resource) => resource.kind === kind);
    if (!found) throw new Error(`the server has no kind ${JSON.stringify(kind)} in ${apiVersion}`);
    return found;
  }
}

const rootOf = (apiVersion: string): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
