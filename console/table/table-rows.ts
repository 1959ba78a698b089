import type { WatchEvent } from '../api/follow.ts';
import type { ObjectMeta } from '../api/objects.ts';

/** How a client asks for rows in the server's own columns: what `kubectl get` prints. */
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export interface Column {
  name: string;
  type: string;
  format: string;
  description: string;
  /** 0 is always shown; others are what `kubectl get -o wide` adds. */
  priority: number;
}

export type Cell = string | number | boolean | null;

/** What is kept of an object for its row; of ten thousand, that is some megabytes. */
export interface Row {
  uid: string;
  name: string;
  namespace: string;
  labels: Readonly<Record<string, string>> | undefined;
  createdMs: number;
  isDeleting: boolean;
  cells: readonly Cell[];
  /** When it changed while it was watched; 0 for never. */
  changedAtMs: number;
  /** Counts its changes: a row that changes again flashes again. */
  changes: number;
}

export interface TableBody {
  columnDefinitions?: Column[] | null;
  rows?: { cells: Cell[]; object?: { metadata?: ObjectMeta } }[] | null;
}

export interface RowEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  row: Row;
}

export const rowsOf = (body: TableBody): Row[] => (body.rows ?? []).map(({ cells, object }) => rowOf(cells, object?.metadata));

function rowOf(cells: Cell[], metadata: ObjectMeta | undefined): Row {
  const name = metadata?.name ?? String(cells[0] ?? '');
  const namespace = metadata?.namespace ?? '';
  return {
    uid: metadata?.uid ?? `${namespace}/${name}`,
    name,
    namespace,
    labels: metadata?.labels,
    createdMs: metadata?.creationTimestamp === undefined ? Number.NaN : Date.parse(metadata.creationTimestamp),
    isDeleting: metadata?.deletionTimestamp !== undefined,
    cells,
    changedAtMs: 0,
    changes: 0,
  };
}

/** The events of a watch, each of which has a Table with one row. */
export const rowEvents = (events: readonly WatchEvent[]): RowEvent[] =>
  events.flatMap(({ type, object }) => (isChange(type) ? rowsOf(object as TableBody).map((row) => ({ type, row })) : []));

const isChange = (type: WatchEvent['type']): type is RowEvent['type'] => type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';
