import type { ApiObject } from '../api/api-object.ts';
import { alreadyExists, notFound } from '../api/errors.ts';
import type { Client, Concerns, Informer, ResourceClient, ResourceIdentity } from './client.ts';

/** For tests: a Client over maps, with no validation, defaults or admission. Objects get a resourceVersion and nothing else; nobody owns fields. */
export class FakeClient implements Client {
  readonly #resources = new Map<string, FakeResource>();
  /** `create`, `update` and `delete` calls that changed something, as `create serviceaccounts ns/name`. */
  readonly writes: string[] = [];
  #revision = 0;

  resource<T extends ApiObject = ApiObject>(group: string, plural: string): ResourceClient<T> {
    const key = `${group}/${plural}`;
    let resource = this.#resources.get(key);
    if (resource === undefined) this.#resources.set(key, (resource = new FakeResource(group, plural, (write) => this.#record(write))));
    return resource as unknown as ResourceClient<T>;
  }

  /** None: a name is all that is known of them. */
  resources(): ResourceIdentity[] {
    return [];
  }

  onResourcesChange(): () => void {
    return () => {};
  }

  #record(write: string): string {
    this.writes.push(write);
    return String(++this.#revision);
  }
}

const all: Concerns = () => true;
const jsonOf = (object: ApiObject): Buffer => Buffer.from(JSON.stringify(object));

class FakeResource implements ResourceClient {
  readonly #objects = new Map<string, ApiObject>();
  readonly #listeners = new Set<(object: ApiObject | undefined, old: ApiObject | undefined) => void>();
  readonly #name: { group: string; resource: string };
  readonly #record: (write: string) => string;

  constructor(group: string, resource: string, record: (write: string) => string) {
    this.#name = { group, resource };
    this.#record = record;
  }

  readonly informer: Informer = {
    synced: Promise.resolve(),
    get: (namespace, name) => this.#objects.get(`${namespace}/${name}`),
    list: (namespace) => this.#list(namespace),
    scan: async (visit, concerns) => {
      for (const object of this.#list('')) if (concerns(jsonOf(object))) visit(object);
    },
    forEach: async (namespace, visit) => {
      for (const object of this.#list(namespace)) visit(object);
    },
    onChange: (listener, concerns = all) => {
      const tell: typeof listener = (object, old) => {
        if (!object || concerns(jsonOf(object)) || (old && concerns(jsonOf(old)))) listener(object, old);
      };
      this.#listeners.add(tell);
      return () => this.#listeners.delete(tell);
    },
  };

  async get(namespace: string, name: string): Promise<ApiObject | undefined> {
    return this.#objects.get(`${namespace}/${name}`);
  }

  async list(namespace: string): Promise<ApiObject[]> {
    return this.#list(namespace);
  }

  async create(namespace: string, object: ApiObject): Promise<ApiObject> {
    const name = object.metadata.name ?? '';
    if (this.#objects.has(`${namespace}/${name}`)) throw alreadyExists(this.#name, name);
    const copy = structuredClone(object);
    copy.metadata = { ...copy.metadata, ...(namespace !== '' && { namespace }) };
    return this.#write('create', namespace, name, copy);
  }

  async update(namespace: string, name: string, change: (object: ApiObject) => boolean | void, subresource = ''): Promise<ApiObject> {
    const old = this.#objects.get(`${namespace}/${name}`);
    if (old === undefined) throw notFound(this.#name, name);
    const copy = structuredClone(old);
    if (change(copy) === false) return old;
    return this.#write(subresource === '' ? 'update' : `update-${subresource}`, namespace, name, copy);
  }

  async apply(namespace: string, name: string, config: ApiObject, subresource = ''): Promise<ApiObject> {
    const { metadata: _metadata, ...fields } = structuredClone(config);
    return this.update(namespace, name, (object) => void Object.assign(object, fields), subresource);
  }

  async delete(namespace: string, name: string): Promise<void> {
    if (!this.#objects.has(`${namespace}/${name}`)) throw notFound(this.#name, name);
    this.#write('delete', namespace, name, undefined);
  }

  #list(namespace: string): ApiObject[] {
    return [...this.#objects.values()].filter((object) => namespace === '' || object.metadata.namespace === namespace);
  }

  #write(verb: string, namespace: string, name: string, object: ApiObject): ApiObject;
  #write(verb: string, namespace: string, name: string, object: undefined): undefined;
  #write(verb: string, namespace: string, name: string, object: ApiObject | undefined): ApiObject | undefined {
    const key = `${namespace}/${name}`;
    const old = this.#objects.get(key);
    const resourceVersion = this.#record(`${verb} ${this.#name.resource} ${namespace === '' ? name : key}`);
    if (object === undefined) this.#objects.delete(key);
    else {
      object.metadata.resourceVersion = resourceVersion;
      this.#objects.set(key, object);
    }
    for (const listener of this.#listeners) listener(object, old);
    return object;
  }
}
