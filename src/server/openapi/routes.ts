import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { ObjectSchema, ScalarSchema, TypeSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../util/api-object.ts';
import { listSchemaOf } from './custom-list.ts';
import { type Irregular, irregularities } from './irregularities.ts';
import { operationIdOf, tagOf } from './operation-id.ts';
import { NAME, NAMESPACE, PATH, PRETTY, type Parameter, parametersOf } from './parameters.ts';

/** Types by name and by kind: what documents are made from beside the installed versions. */
export interface OpenApiTypes {
  schemaOf(name: string): ObjectSchema;
  schemaOfKind(group: string, version: string, kind: string): ObjectSchema;
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

/** One operation, before it is written in the words of OpenAPI v2 or v3. */
export interface Route {
  path: string;
  method: Method;
  operationId: string;
  tag: string;
  /** Absent where the path is no resource's. */
  resource?: { action: string; kind: GroupVersionKind };
  parameters: readonly Parameter[];
  body?: { type: TypeSchema; isRequired: boolean };
  consumes: readonly string[];
  produces: readonly string[];
  /** By status; 401 goes without saying. */
  responses: ReadonlyMap<number, TypeSchema>;
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const PATCH: ScalarSchema = { type: 'any', name: `${META}.Patch` };
const TEXT: ScalarSchema = { type: 'string' };

const ANY_TYPE = ['*/*'];
const JSON_AND_YAML = ['application/json', 'application/yaml'];
const OBJECT_TYPES = [...JSON_AND_YAML, 'application/vnd.kubernetes.protobuf'];
const STREAM_TYPES = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'];
/** Strategic merge needs to know the type. */
const CUSTOM_PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

const OK = 200;
const CREATED = 201;
const ACCEPTED = 202;

export const rootPathOf = (group: string, version: string): string => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`);

/** Every operation of a group-version (apiserver/pkg/endpoints/installer.go). */
export function routesOf(version: ApiVersion, types: OpenApiTypes): Route[] {
  const root = rootPathOf(version.group, version.version);
  const resources = [...version.resources.values()];
  const index = resources.some(({ isCustom }) => !isCustom) ? [indexRoute(`${root}/`, 'getAPIResources', types.schemaOf(`${META}.APIResourceList`))] : [];
  return [...index, ...resources.flatMap((resource) => new ResourceRoutes(root, version, resource, types).all())];
}

/** A discovery document, or another path that takes nothing. */
export function indexRoute(path: string, operation: string, answer: TypeSchema, produces: readonly string[] = OBJECT_TYPES, consumes = produces): Route {
  const named = { operationId: operationIdOf(operation, path), tag: tagOf(path) };
  return { path, method: 'get', ...named, parameters: [], consumes, produces, responses: new Map([[OK, answer]]) };
}

/** What the routes of one object, or of one collection, share. */
interface Place {
  path: string;
  /** In operation ids: `NamespacedPodStatus`. */
  subject: string;
  suffix: string;
  parameters: readonly Parameter[];
}

/** The operations of one resource and its subresources. */
class ResourceRoutes {
  readonly #root: string;
  readonly #groupVersion: { group: string; version: string };
  readonly #resource: InstalledResource;
  readonly #types: OpenApiTypes;

  constructor(root: string, { group, version }: ApiVersion, resource: InstalledResource, types: OpenApiTypes) {
    this.#root = root;
    this.#groupVersion = { group, version };
    this.#resource = resource;
    this.#types = types;
  }

  all(): Route[] {
    const { definition, subresources } = this.#resource;
    const collections = this.#collections();
    return [
      ...collections.flatMap((place) => this.#collectionRoutes(place)),
      ...this.#objectRoutes(definition.verbs),
      ...Object.keys(subresources).flatMap((name) => this.#subresourceRoutes(name)),
    ];
  }

  get #kind(): string {
    return this.#resource.served.kind;
  }

  get #isNamespaced(): boolean {
    return this.#resource.definition.namespaced;
  }

  /** Below the root, with `watch/` before it for the deprecated watch paths. */
  #collections(): Place[] {
    const { plural } = this.#resource.definition;
    if (!this.#isNamespaced) return [{ path: plural, subject: this.#kind, suffix: '', parameters: [] }];
    const inNamespace = { path: `namespaces/{namespace}/${plural}`, subject: `Namespaced${this.#kind}`, suffix: '', parameters: [NAMESPACE] };
    return [inNamespace, { path: plural, subject: this.#kind, suffix: 'ForAllNamespaces', parameters: [] }];
  }

  #object(subresource = ''): Place {
    const [collection] = this.#collections() as [Place];
    const parameters = [...collection.parameters, NAME];
    if (subresource === '') return { ...collection, path: `${collection.path}/{name}`, parameters };
    return { path: `${collection.path}/{name}/${subresource}`, subject: collection.subject + titled(subresource), suffix: '', parameters };
  }

  #collectionRoutes(place: Place): Route[] {
    const { verbs } = this.#resource.definition;
    const isWritable = place.suffix === '';
    const watchEvent = this.#types.schemaOf(`${META}.WatchEvent`);
    const watchPlace = { ...place, path: `watch/${place.path}`, subject: `${place.subject}List` };
    return [
      ...(verbs.includes('list') ? [this.#read(place, 'list', 'list', this.#listSchema(), this.#options('ListOptions'), STREAM_TYPES)] : []),
      ...(verbs.includes('create') && isWritable ? [this.#create(place, this.#ownKind(), this.#resource.served.schema)] : []),
      ...(verbs.includes('deletecollection') && isWritable ? [this.#deleteCollection(place)] : []),
      ...(verbs.includes('watch') && this.#hasWatchPaths ? [this.#read(watchPlace, 'watch', 'watchlist', watchEvent, this.#options('ListOptions'), STREAM_TYPES)] : []),
    ];
  }

  #objectRoutes(verbs: readonly string[]): Route[] {
    const place = this.#object();
    const { schema } = this.#resource.served;
    const watchEvent = this.#types.schemaOf(`${META}.WatchEvent`);
    return [
      ...this.#readAndWriteRoutes(place, verbs, this.#ownKind(), schema, { parameters: [], produces: [] }),
      ...(verbs.includes('delete') ? [this.#delete(place)] : []),
      ...(verbs.includes('watch') && this.#hasWatchPaths ? [this.#read({ ...place, path: `watch/${place.path}` }, 'watch', 'watch', watchEvent, this.#options('ListOptions'), STREAM_TYPES)] : []),
    ];
  }

  /** Custom resources never had the paths that the query parameter replaced. */
  get #hasWatchPaths(): boolean {
    return !this.#resource.isCustom;
  }

  #subresourceRoutes(name: string): Route[] {
    const { group, version, kind, verbs, schema } = this.#resource.subresources[name]!;
    const gvk = { group, version, kind };
    const place = this.#object(name);
    if (kind.endsWith('Options')) return this.#connectRoutes(place, gvk, schema);
    const irregular = irregularities[`${this.#resource.definition.plural}/${name}`] ?? {};
    return [
      ...(verbs.includes('create') ? [this.#create(place, gvk, schema)] : []),
      ...this.#readAndWriteRoutes(place, verbs, gvk, schema, this.#particulars(irregular)),
    ];
  }

  #particulars({ readOptions, alsoProduces = [] }: Irregular): ReadParticulars {
    return { parameters: readOptions === undefined ? [] : parametersOf(this.#types.schemaOfKind('', 'v1', readOptions)), produces: alsoProduces, ...(alsoProduces.length > 0 && { answer: TEXT }) };
  }

  #readAndWriteRoutes(place: Place, verbs: readonly string[], kind: GroupVersionKind, schema: ObjectSchema, particulars: ReadParticulars): Route[] {
    const get = (): Route => ({ ...this.#read(place, 'read', 'get', particulars.answer ?? schema, particulars.parameters, [], kind), produces: [...particulars.produces, ...this.#objectTypes] });
    return [
      ...(verbs.includes('get') ? [get()] : []),
      ...(verbs.includes('update') ? [this.#write(place, 'put', 'replace', 'put', kind, schema, this.#options('UpdateOptions'))] : []),
      ...(verbs.includes('patch') ? [this.#patch(place, kind, schema)] : []),
    ];
  }

  #read(place: Place, verb: string, action: string, answer: TypeSchema, options: readonly Parameter[], streamTypes: readonly string[], kind = this.#ownKind()): Route {
    const produces = [...this.#objectTypes, ...(this.#resource.isCustom ? [] : streamTypes)];
    return this.#route(place, 'get', verb, { action, kind }, { parameters: [...options, PRETTY], produces, responses: new Map([[OK, answer]]) });
  }

  #create(place: Place, kind: GroupVersionKind, schema: ObjectSchema): Route {
    const route = this.#write(place, 'post', 'create', 'post', kind, schema, this.#options('CreateOptions'));
    return { ...route, responses: answers(schema, OK, CREATED, ACCEPTED) };
  }

  #write(place: Place, method: Method, verb: string, action: string, kind: GroupVersionKind, schema: ObjectSchema, options: readonly Parameter[]): Route {
    return this.#route(place, method, verb, { action, kind }, { parameters: [...options, PRETTY], body: { type: schema, isRequired: true }, responses: answers(schema, OK, CREATED) });
  }

  #patch(place: Place, kind: GroupVersionKind, schema: ObjectSchema): Route {
    const route = this.#write(place, 'patch', 'patch', 'patch', kind, schema, this.#options('PatchOptions'));
    return { ...route, body: { type: PATCH, isRequired: true }, consumes: this.#resource.isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES };
  }

  #delete(place: Place): Route {
    const { definition, served } = this.#resource;
    const answer = definition.returnsDeletedObject ? served.schema : this.#types.schemaOf(`${META}.Status`);
    return this.#route(place, 'delete', 'delete', { action: 'delete', kind: this.#ownKind() }, { ...this.#deletion(), responses: answers(answer, OK, ACCEPTED) });
  }

  #deleteCollection(place: Place): Route {
    const { parameters, body } = this.#deletion();
    const known = new Set(parameters.map(({ name }) => name));
    const selection = this.#options('ListOptions').filter(({ name }) => !known.has(name) && name !== 'watch' && name !== 'allowWatchBookmarks');
    const particulars = { parameters: [...parameters, ...selection], body, responses: answers(this.#types.schemaOf(`${META}.Status`), OK) };
    return this.#route(place, 'delete', 'deletecollection', { action: 'deletecollection', kind: this.#ownKind() }, particulars);
  }

  #deletion(): { parameters: readonly Parameter[]; body: { type: TypeSchema; isRequired: boolean } } {
    const type = this.#types.schemaOf(`${META}.DeleteOptions`);
    return { parameters: [...parametersOf(type), PRETTY], body: { type, isRequired: false } };
  }

  /** Streams to a pod: exec and its like take GET and POST, a proxy every method and any path. */
  #connectRoutes(place: Place, kind: GroupVersionKind, schema: ObjectSchema): Route[] {
    const isProxy = kind.kind.endsWith('ProxyOptions');
    const methods: readonly Method[] = isProxy ? ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] : ['get', 'post'];
    const below = { ...place, path: `${place.path}/{path}`, suffix: 'WithPath', parameters: [...place.parameters, PATH] };
    return (isProxy ? [place, below] : [place]).flatMap((at) =>
      methods.map((method) => {
        const particulars = { parameters: parametersOf(schema), produces: ANY_TYPE, responses: answers(TEXT, OK) };
        return this.#route(at, method, `connect${titled(method)}`, { action: 'connect', kind }, particulars);
      }),
    );
  }

  #route(place: Place, method: Method, verb: string, resource: Route['resource'] & {}, particulars: Pick<Route, 'responses' | 'parameters'> & Partial<Route>): Route {
    const path = `${this.#root}/${place.path}`;
    return {
      path,
      method,
      operationId: operationIdOf(verb + place.subject + place.suffix, path),
      tag: tagOf(path),
      resource,
      consumes: ANY_TYPE,
      produces: this.#objectTypes,
      ...particulars,
      parameters: [...particulars.parameters, ...place.parameters],
    };
  }

  get #objectTypes(): readonly string[] {
    return this.#resource.isCustom ? JSON_AND_YAML : OBJECT_TYPES;
  }

  #options(kind: string): Parameter[] {
    return parametersOf(this.#types.schemaOf(`${META}.${kind}`));
  }

  #ownKind(): GroupVersionKind {
    return { ...this.#groupVersion, kind: this.#kind };
  }

  #listSchema(): ObjectSchema {
    const { served, isCustom } = this.#resource;
    return isCustom ? listSchemaOf(served, this.#types) : this.#types.schemaOfKind(served.group, served.version, `${served.kind}List`);
  }
}

/** What an irregular subresource's GET takes and gives beside the usual. */
interface ReadParticulars {
  parameters: readonly Parameter[];
  /** Before the usual types. */
  produces: readonly string[];
  answer?: TypeSchema;
}

const answers = (type: TypeSchema, ...codes: number[]): Map<number, TypeSchema> => new Map(codes.map((code) => [code, type]));

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
