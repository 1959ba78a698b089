import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import type { Subresource } from '../../registry/definition.ts';
import type { ObjectSchema, ScalarSchema, TypeSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import {
  ACTIONS,
  CUSTOM_ACTIONS,
  ALL_NAMESPACES_ACTIONS,
  type Action,
  type ActionName,
  COLLECTION_ACTIONS,
  OBJECT_ACTIONS,
  SUBRESOURCE_ACTIONS,
  TEXT_SUBRESOURCES,
} from './actions.ts';
import { listSchemaOf } from './custom-list.ts';
import { describeAction, describeConnection } from './operation-description.ts';
import { operationIdOf, operationTag } from './operation-id.ts';
import { NAMESPACE, PATH, PRETTY, type Parameter, nameParameter, parametersOf } from './parameters.ts';
import { CUSTOM_OBJECT_TYPES, META, type Method, OBJECT_TYPES, type OpenApiTypes, type Route, rootPathOf } from './routes.ts';

const PATCH: ScalarSchema = { type: 'any', name: `${META}.Patch` };
const TEXT: ScalarSchema = { type: 'string' };

const ANY_TYPE = ['*/*'];
const STREAM_TYPES = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'];
/** Strategic merge needs to know the type. */
const CUSTOM_PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'];

const PROXY_METHODS: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const STREAM_METHODS: readonly Method[] = ['get', 'post'];

/** What actions are done on. */
interface Subject {
  /** Below the group-version. */
  path: string;
  /** In operation ids: `NamespacedPodStatus`, with `ForAllNamespaces` behind whatever else. */
  word: string;
  suffix: string;
  parameters: readonly Parameter[];
  kind: GroupVersionKind;
  schema: ObjectSchema;
  subresource?: string;
}

/** The operations of one resource and its subresources. */
export class ResourceRoutes {
  readonly #groupVersion: { group: string; version: string };
  readonly #resource: InstalledResource;
  readonly #types: OpenApiTypes;

  constructor({ group, version }: Pick<ApiVersion, 'group' | 'version'>, resource: InstalledResource, types: OpenApiTypes) {
    this.#groupVersion = { group, version };
    this.#resource = resource;
    this.#types = types;
  }

  all(): Route[] {
    const { definition, subresources } = this.#resource;
    const collection = this.#collection();
    const { verbs } = definition;
    return [
      ...this.#routes(collection, verbs, COLLECTION_ACTIONS),
      ...(definition.namespaced ? this.#routes(this.#allNamespaces(collection), verbs, ALL_NAMESPACES_ACTIONS) : []),
      ...this.#routes(objectIn(collection), verbs, OBJECT_ACTIONS),
      ...Object.entries(subresources).flatMap(([name, subresource]) => this.#subresourceRoutes(name, subresource)),
    ];
  }

  #collection(): Subject {
    const { definition, served } = this.#resource;
    const common = { suffix: '', kind: { ...this.#groupVersion, kind: served.kind }, schema: served.schema };
    if (!definition.namespaced) return { ...common, path: definition.plural, word: served.kind, parameters: [] };
    return { ...common, path: `namespaces/{namespace}/${definition.plural}`, word: `Namespaced${served.kind}`, parameters: [NAMESPACE] };
  }

  #allNamespaces(collection: Subject): Subject {
    return { ...collection, path: this.#resource.definition.plural, word: this.#resource.served.kind, suffix: 'ForAllNamespaces', parameters: [] };
  }

  #subresourceRoutes(name: string, { group, version, kind, schema, verbs }: Subresource): Route[] {
    const collection = this.#collection();
    // A custom resource's operations are all of its own kind, even those on a scale.
    const object = objectIn(this.#resource.isCustom ? { ...collection, schema } : { ...collection, kind: { group, version, kind }, schema });
    const subject = { ...object, path: `${object.path}/${name}`, word: object.word + titled(name), subresource: name };
    // Kinds named so are what a connection is opened with, not what is read or written.
    if (kind.endsWith('Options')) return this.#connectRoutes(subject);
    const routes = this.#routes(subject, verbs, SUBRESOURCE_ACTIONS);
    const text = TEXT_SUBRESOURCES[`${this.#resource.definition.plural}/${name}`];
    if (!text) return routes;
    const options = parametersOf(this.#types.schemaOfKind('', 'v1', text.options));
    const [get] = routes as [Route];
    return [{ ...get, parameters: [...get.parameters, ...options], produces: [...text.produces, ...get.produces], responses: new Map([[200, TEXT]]) }];
  }

  #routes(subject: Subject, verbs: readonly string[], actions: Readonly<Record<string, ActionName>>): Route[] {
    return Object.entries(actions)
      .filter(([verb]) => verbs.includes(verb))
      .filter(([verb]) => !(verb === 'watch' && this.#resource.isCustom))
      .map(([, action]) => this.#route(subject, action));
  }

  #route(subject: Subject, name: ActionName): Route {
    const { isCustom } = this.#resource;
    const action: Action = (isCustom ? CUSTOM_ACTIONS : ACTIONS)[name];
    const isWatch = name === 'watch' || name === 'watchlist';
    const path = `${rootPathOf(this.#groupVersion.group, this.#groupVersion.version)}/${isWatch ? 'watch/' : ''}${subject.path}`;
    const word = action.word + subject.word + (name === 'watchlist' ? 'List' : '') + subject.suffix;
    const body = this.#body(action, subject);
    return {
      path,
      method: action.method,
      operationId: operationIdOf(word, path),
      description: describeAction(name, {
        kind: this.#resource.served.kind,
        ...(subject.subresource !== undefined && { subresource: subject.subresource }),
        isWatchable: this.#resource.definition.verbs.includes('watch') && !isCustom,
      }),
      tag: operationTag(path),
      resource: { action: name, kind: subject.kind },
      parameters: [...this.#options(action), PRETTY, ...subject.parameters],
      ...(body && { body }),
      consumes: action.body === 'patch' ? (isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES) : isCustom ? CUSTOM_OBJECT_TYPES : ANY_TYPE,
      produces: isCustom ? CUSTOM_OBJECT_TYPES : action.isStream ? [...OBJECT_TYPES, ...STREAM_TYPES] : OBJECT_TYPES,
      responses: new Map(action.statuses.map((status) => [status, this.#answer(action, subject)])),
    };
  }

  /** A parameter of two kinds stands once. */
  #options({ options, without = [] }: Action): Parameter[] {
    const all = options.flatMap((kind) => parametersOf(this.#types.schemaOf(`${META}.${kind}`)));
    return [...new Map(all.map((parameter) => [parameter.name, parameter])).values()].filter(({ name }) => !without.includes(name));
  }

  #body({ body }: Action, { schema }: Subject): Route['body'] {
    if (body === undefined) return undefined;
    if (body === 'deleteOptions') return { type: this.#types.schemaOf(`${META}.DeleteOptions`), isRequired: false };
    return { type: body === 'patch' ? PATCH : schema, isRequired: true };
  }

  #answer({ answer }: Action, { schema }: Subject): TypeSchema {
    const { definition, served, isCustom } = this.#resource;
    if (answer === 'object' || (answer === 'deleted' && definition.deletion?.returnsObject)) return schema;
    if (answer === 'event') return this.#types.schemaOf(`${META}.WatchEvent`);
    if (answer !== 'list') return this.#types.schemaOf(`${META}.Status`);
    return isCustom ? listSchemaOf(served, definition.plural, this.#types) : this.#types.schemaOfKind(served.group, served.version, `${served.kind}List`);
  }

  /** Connections: exec and its like take GET and POST, a proxy every method and any path behind it. */
  #connectRoutes(subject: Subject): Route[] {
    if (!subject.kind.kind.endsWith('ProxyOptions')) return STREAM_METHODS.map((method) => this.#connectRoute(subject, method));
    const below = { ...subject, path: `${subject.path}/{path}`, suffix: 'WithPath', parameters: [...subject.parameters, PATH] };
    return [subject, below].flatMap((each) => PROXY_METHODS.map((method) => this.#connectRoute(each, method)));
  }

  #connectRoute(subject: Subject, method: Method): Route {
    const path = `${rootPathOf(this.#groupVersion.group, this.#groupVersion.version)}/${subject.path}`;
    return {
      path,
      method,
      operationId: operationIdOf(`connect${titled(method)}${subject.word}${subject.suffix}`, path),
      description: describeConnection(method, subject.subresource!, this.#resource.served.kind),
      tag: operationTag(path),
      resource: { action: 'connect', kind: subject.kind },
      parameters: [...parametersOf(subject.schema), ...subject.parameters],
      consumes: ANY_TYPE,
      produces: ANY_TYPE,
      responses: new Map([[200, TEXT]]),
    };
  }
}

const objectIn = (collection: Subject): Subject => ({
  ...collection,
  path: `${collection.path}/{name}`,
  parameters: [...collection.parameters, nameParameter(collection.kind.kind)],
});

const titled = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
