import type { Column, ResourceDefinition, RowCondition } from '../registry/definition.ts';
import { clone } from '../schema/clone.ts';
import { normalize } from '../schema/normalize.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { type ClientKind, type EndpointEnvironment, type ResourceTarget, clientKindOf } from './target.ts';

/** How stored objects look to the clients of one target: which kind and version they see, and how it is made. */
export interface ClientView {
  kind: ClientKind;
  listKind: string;
  apiVersion: string;
  /** Of what is converted: the length of `{"kind":"K","apiVersion":"V",`. */
  typePrefixLength: number;
  /** From the stored object, which it may change; absent where clients see it as it is stored. */
  convert: ((stored: ApiObject) => ApiObject) | undefined;
  /** What is converted has metadata of its own, as a Scale has. */
  hasOwnMetadata: boolean;
  columns: readonly Column[] | undefined;
  rowConditions: ((stored: ApiObject) => readonly RowCondition[]) | undefined;
  compareRows: ((a: ApiObject, b: ApiObject) => number) | undefined;
  /** See ResourceDefinition. */
  emptyObject: ResourceDefinition['emptyObject'];
  unlistedAnnotation: string | undefined;
  storedGroup: string | undefined;
  isCustom: boolean;
  environment: EndpointEnvironment;
}

const views = new WeakMap<ResourceTarget, ClientView>();

export function clientViewOf(target: ResourceTarget): ClientView {
  const known = views.get(target);
  if (known) return known;
  const view = makeView(target);
  views.set(target, view);
  return view;
}

function makeView(target: ResourceTarget): ClientView {
  const { store, served, subresource, isCustom, environment } = target;
  const kind = clientKindOf(target);
  const convert = subresource?.read ? subresource.read.bind(subresource) : served.fromStored?.bind(served);
  const isOwnKind = subresource === undefined || subresource.kind === served.kind;
  const apiVersion = apiVersionOf(kind.group, kind.version);
  const typePrefixLength = Buffer.byteLength(typePrefix(kind.kind, apiVersion));
  const { columns, rowConditions, compareRows } = (isOwnKind && store.definition.table) || {};
  const rows = {
    columns: isOwnKind ? (served.columns ?? columns) : subresource.columns,
    rowConditions: rowConditions?.bind(store.definition.table),
    compareRows: compareRows?.bind(store.definition.table),
  };
  const { table, storage, emptyObject } = store.definition;
  return {
    kind,
    listKind: (isOwnKind ? served.listKind : undefined) ?? `${kind.kind}List`,
    apiVersion,
    typePrefixLength,
    convert,
    hasOwnMetadata: subresource?.read !== undefined,
    ...rows,
    emptyObject,
    unlistedAnnotation: table?.unlistedAnnotation,
    storedGroup: storage.group,
    isCustom,
    environment,
  };
}

/** The same clients, shown objects that are already of their kind and version. */
export const unconverted = (view: ClientView): ClientView => (view.convert ? { ...view, convert: undefined, hasOwnMetadata: false } : view);

/** Names this view's encodings of an entry among those that other views made. */
export const formName = (view: ClientView): string => `${view.apiVersion} ${view.kind.kind}`;

/** The object as the view's clients see it. Shared where nothing was converted: never to be changed. */
export function clientObject(view: ClientView, entry: CacheEntry): JsonObject {
  if (view.convert === undefined) return entry.object<JsonObject>();
  return normalize(view.kind.schema, view.convert(clone(entry.object())) as unknown as JsonObject);
}

/** The object as JSON: the stored bytes where the view shows them as they are. */
export function jsonOf(view: ClientView, entry: CacheEntry): Buffer {
  if (view.convert === undefined) return entry.bytes;
  return entry.form(`json ${formName(view)}`, () => Buffer.from(stringifyJson(clientObject(view, entry))));
}

/** How many bytes of `jsonOf` are `{"kind":"K","apiVersion":"V",`. */
export const typePrefixLengthOf = (view: ClientView, entry: CacheEntry): number =>
  view.convert === undefined ? entry.typePrefixLength : view.typePrefixLength;

export const typePrefix = (kind: string, apiVersion: string): string => `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`;

/** An object that is in no cache (a dry run's, a deleted one, a subresource's answer), in the shape of one that is. It must be in canonical order. */
export class LooseEntry implements CacheEntry {
  readonly key = '';
  readonly revision = 0;
  readonly typePrefixLength: number;
  readonly #object: ApiObject;
  #bytes: Buffer | undefined;
  /** `bytes`: its JSON, where it is there already. */
  constructor(object: ApiObject, bytes?: Buffer) {
    this.#object = object;
    this.#bytes = bytes;
    this.typePrefixLength = Buffer.byteLength(typePrefix(object.kind, object.apiVersion));
  }
  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(stringifyJson(this.#object)));
  }
  object<T = ApiObject>(): T {
    return this.#object as T;
  }
  form(_name: string, make: () => Buffer): Buffer {
    return make();
  }
}
