import type { Column } from '../registry/definition.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { Transform } from './negotiation.ts';
import type { IncludeObject } from './options.ts';
import { metaApiVersion, partialJson } from './partial-metadata.ts';
import { type ClientView, jsonOf, typePrefix } from './view.ts';

/** Where a kind says nothing of its columns (apiserver's rest.NewDefaultTableConvertor). */
const DEFAULT_COLUMNS: readonly Column[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0, cell: (object) => object.metadata.name ?? '' },
  { name: 'Created At', type: 'date', format: '', description: '', priority: 0, cell: (object) => object.metadata.creationTimestamp ?? '0001-01-01T00:00:00Z' },
];

/** How one client wants its tables. */
export interface TableOptions {
  version: Transform['version'];
  includeObject: IncludeObject;
}

/** `{"kind":"Table",…,"rows":[`; a stream sends the columns with its first table only. */
export const tableHead = (view: ClientView, metadata: string, options: TableOptions, withColumns: boolean): string =>
  `${beforeRows(view, metadata, options, withColumns)}[`;

function beforeRows(view: ClientView, metadata: string, { version }: TableOptions, withColumns: boolean): string {
  return `${typePrefix('Table', metaApiVersion({ version }))}"metadata":${metadata},"columnDefinitions":${withColumns ? columnDefinitions(view) : 'null'},"rows":`;
}

/** Of no objects: the default columns come with no list of rows at all. */
export function emptyTable(view: ClientView, metadata: string, options: TableOptions): Buffer {
  const isDefault = (view.columns ?? DEFAULT_COLUMNS).at(-1)?.name === DEFAULT_COLUMNS.at(-1)!.name;
  return Buffer.from(`${beforeRows(view, metadata, options, true)}${isDefault ? 'null' : '[]'}}`);
}

export const TABLE_TAIL = ']}';

function columnDefinitions(view: ClientView): string {
  const columns = view.columns ?? DEFAULT_COLUMNS;
  return stringifyJson(
    columns.filter(({ isUndeclared }) => !isUndeclared).map(({ name, type, format, description, priority }) => ({ name, type, format, description, priority })),
  );
}

/** Cells are made from the stored object, whichever version the client speaks. */
export function tableRow(view: ClientView, entry: CacheEntry, { version, includeObject }: TableOptions, now: Date): Buffer {
  const object = entry.object<ApiObject>();
  const cells = (view.columns ?? DEFAULT_COLUMNS).map((column) => column.cell(object, now));
  const shown = includeObject === 'None' ? NULL : includeObject === 'Object' ? jsonOf(view, entry) : partialJson(view, entry, version);
  return Buffer.concat([Buffer.from(`{"cells":${stringifyJson(cells)},${conditionsOf(view, object)}"object":`), shown, CLOSING_BRACE]);
}

function conditionsOf({ rowConditions }: ClientView, object: ApiObject): string {
  const conditions = rowConditions?.(object) ?? [];
  return conditions.length === 0 ? '' : `"conditions":${JSON.stringify(conditions)},`;
}

const NULL = Buffer.from('null');
const CLOSING_BRACE = Buffer.from('}');
