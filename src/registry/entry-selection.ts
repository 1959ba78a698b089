import type { ApiObject } from '../api/api-object.ts';
import { fieldSelectorOf } from '../api/field-selector.ts';
import { EVERY_LABEL } from '../api/label-selector.ts';
import { pathSegmentName } from '../api/names.ts';
import { NAME } from '../storage/cache/attributes.ts';
import type { CacheEntry, CacheSelection, FieldAttribute, Lookup } from '../storage/cache/cache.ts';
import type { ResourceDefinition, Selectable } from './definition.ts';
import type { StoreParts } from './store-parts.ts';
import type { Selection } from './store.ts';

type Matches = (entry: CacheEntry) => boolean;

export const namespacePrefix = ({ definition, keyPrefix }: Pick<StoreParts, 'definition' | 'keyPrefix'>, namespace: string): string =>
  definition.namespaced && namespace !== '' ? `${keyPrefix}${namespace}/` : keyPrefix;

/** How the cache finds the entries of a selection. Undefined where everything is selected. */
export function entrySelection(parts: Pick<StoreParts, 'definition' | 'keyPrefix'>, selection: Selection): CacheSelection | undefined {
  const matches = matcher(parts, selection);
  return matches && { matches, within: withinOf(parts, selection), lookup: lookupOf(parts.definition, selection) };
}

/** The same where selectors look at objects as they are converted: of what is stored, only the key tells anything. */
export function keySelection(parts: Pick<StoreParts, 'definition' | 'keyPrefix'>, selection: Selection): CacheSelection | undefined {
  const within = withinOf(parts, selection);
  if (!isByName(selection)) return within === undefined ? undefined : { matches: () => true, within };
  return { matches: matcher(parts, selection)!, within, lookup: lookupOf(parts.definition, selection) };
}

function matcher({ definition }: Pick<StoreParts, 'definition'>, { labels, fields, shard }: Selection): Matches | undefined {
  if (labels.isEmpty && fields.isEmpty) return shard && ((entry) => shard.matches(entry.object()));
  if (isByName({ labels, fields, shard })) return named(fields.exactMatch('metadata.name')!);
  const selectable = selectableOf(definition);
  const valueOf = (object: ApiObject, field: string): string => {
    if (field === 'metadata.name') return object.metadata.name ?? '';
    if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
    return selectable[field]?.(object) ?? '';
  };
  return (entry) => {
    const object = entry.object();
    if (shard && !shard.matches(object)) return false;
    return (labels.isEmpty || labels.matches(object.metadata.labels)) && (fields.isEmpty || fields.matches((field) => valueOf(object, field)));
  };
}

export function isByName({ labels, fields, shard }: Selection): boolean {
  if (shard) return false;
  const name = fields.exactMatch('metadata.name');
  return name !== undefined && name !== '' && labels.isEmpty && fields.requirements.length === 1 && pathSegmentName(name, false).length === 0;
}

/** One object by its name, as most watches have it: its key tells, and nothing is decoded. */
function named(name: string): Matches {
  const ending = `/${name}`;
  return ({ key }) => key.endsWith(ending);
}

/**
 * The key of the one object that a selector names: it alone is asked for. Undefined where it names none, or no key can be made of the name
 * (registry/generic/registry/store.go ListPredicate).
 */
export function selectedKey(parts: Pick<StoreParts, 'definition' | 'keyPrefix'>, namespace: string, { fields }: Selection): string | undefined {
  const name = fields.exactMatch('metadata.name');
  if (!name || pathSegmentName(name, false).length > 0 || (parts.definition.namespaced && namespace === '')) return undefined;
  return namespacePrefix(parts, namespace) + name;
}

/** Of a selection what the key tells: everything, or the one object that it names. */
export function keyOnlySelection(parts: Pick<StoreParts, 'definition' | 'keyPrefix'>, namespace: string, selection: Selection): Selection {
  const isOne = selectedKey(parts, namespace, selection) !== undefined;
  const byName = isOne ? selection.fields.requirements.filter(({ field, operator }) => field === 'metadata.name' && operator === '=').slice(0, 1) : [];
  return { labels: EVERY_LABEL, fields: fieldSelectorOf(byName) };
}

/** The keys of a namespace lie together. */
function withinOf(parts: Pick<StoreParts, 'definition' | 'keyPrefix'>, { fields }: Selection): string | undefined {
  const namespace = fields.exactMatch('metadata.namespace');
  return namespace && parts.definition.namespaced && !namespace.includes('/') ? namespacePrefix(parts, namespace) : undefined;
}

/** `in` of more values is matched one by one. */
const MAX_LOOKUP_VALUES = 16;

/** What a selector demands that tells most: uids and names belong to few objects, while there are few kinds, phases and types. */
function lookupOf(definition: ResourceDefinition, { labels, fields }: Selection): Lookup | undefined {
  return byField(definition, fields, isUid) ?? byField(definition, fields, isName) ?? byLabel(labels) ?? byField(definition, fields, () => true);
}

const isUid = (field: string): boolean => /uid$/i.test(field);
const isName = (field: string): boolean => /name$/i.test(field);

function byField(definition: ResourceDefinition, fields: Selection['fields'], isMeant: (field: string) => boolean): Lookup | undefined {
  for (const { field, operator, value } of fields.requirements) {
    if (operator !== '=' || !isMeant(field)) continue;
    const by = field === 'metadata.name' ? NAME : attributeOf(selectableOf(definition)[field]);
    if (by) return { by, values: [value] };
  }
  return undefined;
}

function byLabel({ requirements }: Selection['labels']): Lookup | undefined {
  let best: Lookup | undefined;
  for (const { key, operator, values } of requirements) {
    if (operator !== '=' && operator !== '==' && operator !== 'in') continue;
    if (values.length < (best?.values.length ?? MAX_LOOKUP_VALUES + 1)) best = { by: { label: key }, values };
  }
  return best;
}

const selectables = new WeakMap<ResourceDefinition, Selectable>();

/** The fields of all versions. */
function selectableOf(definition: ResourceDefinition): Selectable {
  let selectable = selectables.get(definition);
  if (selectable === undefined) {
    selectable = Object.assign({}, definition.selectable, ...definition.served.map((version) => version.selectable ?? {})) as Selectable;
    selectables.set(definition, selectable);
  }
  return selectable;
}

type ValueOf = Selectable[string];
const attributes = new WeakMap<ValueOf, FieldAttribute>();

/** One for all who select by the field, so that they share an index. */
function attributeOf(valueOf: ValueOf | undefined): FieldAttribute | undefined {
  if (valueOf === undefined) return undefined;
  let attribute = attributes.get(valueOf);
  if (attribute === undefined) attributes.set(valueOf, (attribute = { valueOf: (entry) => valueOf(entry.object()) ?? '' }));
  return attribute;
}
