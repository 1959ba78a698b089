import type { Selection } from '../registry/store.ts';
import { type ShardSelector, ShardSyntaxError, parseShardSelector } from '../api/shard-selector.ts';
import { unknownError, badRequest } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import { EVERY_FIELD, type FieldSelector, fieldSelectorOf, parseFieldSelector } from '../api/field-selector.ts';
import { EVERY_LABEL, type LabelSelector, SelectorSyntaxError, parseLabelSelector } from '../api/label-selector.ts';
import type { ResourceTarget } from './target.ts';

/** Whose fields may be selected by, and the one name the path limits the collection to ('' for all). */
export interface SelectorScope {
  target: ResourceTarget;
  name: string;
}

const ALL: Selection = { labels: EVERY_LABEL, fields: EVERY_FIELD };

/** `validate` runs where upstream checks the other options: after the selectors' syntax, before their fields. */
export function selectionOf(query: URLSearchParams, scope: SelectorScope, validate: () => void): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  const labels = labelText === '' ? EVERY_LABEL : parsed(() => parseLabelSelector(labelText));
  const fields = fieldText === '' ? EVERY_FIELD : parsed(() => parseFieldSelector(fieldText));
  validate();
  for (const { field } of fields.requirements) checkField(field, scope.target);
  const shard = shardOf(query, scope);
  if (scope.name === '') return labels.isEmpty && fields.isEmpty && !shard ? ALL : { labels, fields, shard };
  return { labels, fields: withName(fields, scope.name), shard };
}

/** Upstream parses it in the store, where it escapes without a reason or a code of its own. */
function shardOf(query: URLSearchParams, { target: { environment } }: SelectorScope): ShardSelector | undefined {
  const text = query.get('shardSelector') ?? '';
  if (text === '' || !environment.hasShards) return undefined;
  try {
    return parseShardSelector(text);
  } catch (error) {
    throw error instanceof ShardSyntaxError ? unknownError(`invalid shard selector: ${error.message}`) : error;
  }
}

function parsed<T extends LabelSelector | FieldSelector>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SelectorSyntaxError ? badRequest(error.message) : error;
  }
}

/** Kinds that convert field labels themselves refuse in other words than those that only know the metadata. */
function checkField(field: string, { store, served, isCustom }: ResourceTarget): void {
  if (field === 'metadata.name') return;
  const { definition } = store;
  const selectable = served.selectable ?? definition.selectable;
  const hasOwnFields = selectable !== undefined || isCustom;
  if (field === 'metadata.namespace' && (definition.namespaced || !hasOwnFields)) return;
  if (selectable !== undefined && Object.hasOwn(selectable, field)) return;
  if (hasOwnFields) throw badRequest(definition.unselectable?.(field) ?? `field label not supported: ${field}`);
  throw badRequest(`${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

function withName(fields: FieldSelector, name: string): FieldSelector {
  if (fields.isEmpty) return fieldSelectorOf([{ field: 'metadata.name', operator: '=', value: name }]);
  if (fields.exactMatch('metadata.name') !== name) throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return fields;
}
