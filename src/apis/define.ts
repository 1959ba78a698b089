import type { Column, ResourceDefinition, ResourceNames, ServedVersion, StorageRules, Subresource, TableRules } from '../registry/definition.ts';
import { NOTHING_EMPTY } from '../schema/empty-paths.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { ApiObject } from '../api/api-object.ts';
import { ageSince } from '../util/duration.ts';
import type { KindContext } from '../registry/write.ts';
import { DEFAULT_SETTINGS } from './features.ts';
import { columnsOf, type ResourceFacts, resourceFacts } from './facts/resources.ts';
import { schemaOfKind } from './facts/schemas.ts';
import { withOlderVersions } from './older-versions.ts';
import { validateFinalizerNames } from './validation/finalizer-names.ts';

/** `apps/v1/deployments`, `v1/pods`: a resource in the version it is stored in. */
type ResourceName = `${string}/${string}`;

type FromFacts = keyof ResourceNames | 'schema' | 'served' | 'settings' | 'storage' | 'table' | 'subresources';

/** What a kind's file says: everything that the tables of facts do not. */
export interface Strategy<T extends ApiObject> extends Omit<Partial<ResourceDefinition<T>>, FromFacts> {
  storage?: Partial<Omit<StorageRules<T>, 'group'>>;
  table?: Omit<TableRules<T>, 'columns'>;
  /** Fills in what the client left out, in the storage version. */
  default?(object: T, context: KindContext): void;
  /** Of new and of changed objects, before their other rules: what the older groups demand of finalizers (pkg/apis/core/validation ValidateObjectMeta). */
  validatesFinalizerNames?: true;
  /** Sent as a warning with every request for the version that is stored; other versions have their own. */
  deprecation?: string;
  /** Where it is kept as a kind of another group (events): that one's name, and the ways there and back. Hooks, selectors and cells see that kind. */
  storedAs?: { name: ResourceName } & Required<Pick<ServedVersion, 'toStored' | 'fromStored'>>;
  /** Other group-versions under which clients reach it. */
  alsoServed?: readonly OtherVersion[];
  /** The cells of `kubectl get`, by the column's name in the facts; Name and Age need not be told. */
  cells?: Record<string, Cell<T>>;
  /** Cells behind those, for which upstream declares no column. */
  undeclaredCells?: readonly Cell<T>[];
  /** What a subresource does beyond being another way to write the object. */
  subresources?: Record<string, Partial<Omit<Subresource<T>, 'schema'>>>;
}

export interface OtherVersion extends Omit<ServedVersion, 'schema' | 'kind' | 'default' | 'toStored'> {
  kind?: string;
  default?(object: ApiObject, context: KindContext): void;
  toStored?(object: ApiObject, context: KindContext): ApiObject;
}

/** As a method's type, for the reason `Selectable` gives. */
export type Cell<T extends ApiObject = ApiObject> = Column<T>['cell'];

/** Of a kind that no server has taken up (`withSettings`): only tests of single kinds ask such a one. */
const NO_SERVER: KindContext = { settings: DEFAULT_SETTINGS, now: new Date(0), sentEmpty: NOTHING_EMPTY };

/** Joins a kind's strategy with its facts. */
export function defineResource<T extends ApiObject = ApiObject>(name: ResourceName, strategy: Strategy<T> = {}): ResourceDefinition<T> {
  const facts = resourceFacts(name);
  const { group, version, kind, plural, singular, namespaced, shortNames, categories, verbs } = facts;
  const {
    default: fillDefaults,
    deprecation,
    storedAs,
    alsoServed = [],
    cells = {},
    undeclaredCells = [],
    subresources = {},
    validatesFinalizerNames,
    ...rules
  } = strategy;
  const stored = {
    group,
    version,
    kind,
    deprecation,
    ...(storedAs && { toStored: storedAs.toStored, fromStored: storedAs.fromStored }),
    ...(fillDefaults && { default: (object: ApiObject, context: KindContext) => fillDefaults(object as T, context) }),
  };
  const definition = {
    group,
    version,
    kind,
    plural,
    singular,
    namespaced,
    shortNames,
    categories,
    verbs,
    settings: DEFAULT_SETTINGS,
    hasStatus: Object.hasOwn(facts.subresources, 'status'),
    ...rules,
    ...(validatesFinalizerNames && withFinalizerNames(rules)),
    storage: {
      prefix: plural,
      ...rules.storage,
      ...(storedAs ? { group: resourceFacts(storedAs.name).group } : { form: withOlderVersions({ group, version, kind }, rules.storage?.form) }),
    },
    deletion: { returnsObject: facts.returnsDeletedObject, ...rules.deletion },
    served: [stored, ...alsoServed.map((other) => ({ kind, ...other }))].map((served) => withSchema(withoutServer(served))),
    subresources: subresourcesOf(facts, subresources),
    table: {
      ...rules.table,
      columns: [
        ...columnsOf(name).map((column) => ({ ...column, description: '', cell: cells[column.name] ?? commonCell(column.name) })),
        ...undeclaredCells.map((cell) => ({ name: '', type: 'string', format: '', description: '', priority: 0, cell, isUndeclared: true as const })),
      ],
    },
  };
  return withSchema(definition, storedAs && resourceFacts(storedAs.name)) as unknown as ResourceDefinition<T>;
}

const withFinalizerNames = <T extends ApiObject>({
  validate,
  validateUpdate,
}: Pick<Strategy<T>, 'validate' | 'validateUpdate'>): Pick<Strategy<T>, 'validate' | 'validateUpdate'> => ({
  validate(write, errors) {
    validateFinalizerNames(write.object.metadata, errors);
    validate?.(write, errors);
  },
  validateUpdate(write, errors) {
    validateFinalizerNames(write.object.metadata, errors);
    validateUpdate?.(write, errors);
  },
});

/** Where nobody says in what context an object is read. */
const withoutServer = <V extends Pick<OtherVersion, 'default' | 'toStored'>>(served: V): V => ({
  ...served,
  ...(served.default && { default: (object: ApiObject, context?: Partial<KindContext>) => served.default!(object, { ...NO_SERVER, ...context }) }),
  ...(served.toStored && { toStored: (object: ApiObject, context?: Partial<KindContext>) => served.toStored!(object, { ...NO_SERVER, ...context }) }),
});

/** The schema is looked up when it is first asked for: most kinds are never touched in a process' life, and none at its start. */
function withSchema<V extends { group: string; version: string; kind: string }>(
  value: V,
  of: { group: string; version: string; kind: string } = value,
): V & { schema: ObjectSchema } {
  let schema: ObjectSchema | undefined;
  return Object.defineProperty(value, 'schema', { enumerable: true, get: () => (schema ??= schemaOfKind(of.group, of.version, of.kind)) }) as V & {
    schema: ObjectSchema;
  };
}

function subresourcesOf(facts: ResourceFacts, strategy: Record<string, Partial<Omit<Subresource, 'schema'>>>): Record<string, Subresource> {
  return Object.fromEntries(Object.entries(facts.subresources).map(([name, fact]) => [name, withSchema({ ...fact, ...strategy[name] })]));
}

function commonCell(column: string): Cell {
  if (column === 'Age') return (object, now) => ageSince(object.metadata.creationTimestamp, now);
  // Only bookmarks have none.
  if (column === 'Created At') return (object) => object.metadata.creationTimestamp ?? '0001-01-01T00:00:00Z';
  return (object) => object.metadata.name ?? '';
}

/** What a server lets a subresource do: parts of it that need more than the object. */
export type SubresourceAction = Pick<Subresource, 'default' | 'create' | 'connect' | 'alsoAcceptsVersions'>;

/** The definition with actions behind some of its subresources; the one given stays as it is, since several servers may live in one process. */
export function withActions(definition: ResourceDefinition, actions: Readonly<Record<string, SubresourceAction>>): ResourceDefinition {
  const subresources = Object.fromEntries(
    Object.entries(definition.subresources ?? {}).map(([name, subresource]) => [
      name,
      Object.hasOwn(actions, name) ? copyWith(subresource, actions[name]!) : subresource,
    ]),
  );
  return copyWith(definition, { subresources });
}

/** Copies property by property, so that the schema, the only one with a getter, is still looked up when it is first asked for. */
export function copyWith<V extends object>(value: V, more: Partial<V>): V {
  const copy = {} as V;
  for (const name of Object.keys(value) as (keyof V)[]) if (name !== 'schema') copy[name] = value[name];
  Object.assign(copy, more);
  const schema = Object.getOwnPropertyDescriptor(value, 'schema');
  return schema === undefined ? copy : Object.defineProperty(copy, 'schema', schema);
}
