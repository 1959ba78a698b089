import { compareKeys, sortKey } from './cell-order.ts';
import type { Cell, Column, Row, RowEvent } from './table-rows.ts';

export interface Sorting {
  /** -1 is the namespace; other numbers are columns. */
  column: number;
  isDescending: boolean;
}

export const NAMESPACE_COLUMN = -1;

type Compare = (a: Row, b: Row) => number;

const byName: Compare = (a, b) => compareKeys(a.namespace, b.namespace) || compareKeys(a.name, b.name);

/**
 * The rows of a table in the order in which they are shown. What changes is taken out of that order and merged into it again: each batch of events costs one
 * pass over the rows, however many there are in it, and nothing is sorted anew.
 */
export class TableModel {
  columns: readonly Column[] = [];
  /** What is shown: the rows that the search leaves, in order. */
  view: readonly Row[] = [];
  readonly #rows = new Map<string, Row>();
  #search = '';
  #sorting: Sorting | undefined;
  #ageColumn = -1;

  get size(): number {
    return this.#rows.size;
  }

  get(uid: string): Row | undefined {
    return this.#rows.get(uid);
  }

  rows(): Iterable<Row> {
    return this.#rows.values();
  }

  clear(): void {
    this.#rows.clear();
    this.view = [];
  }

  setColumns(columns: readonly Column[]): void {
    this.columns = columns;
    this.#ageColumn = columns.findIndex(({ name }) => name === 'Age');
  }

  /** A page of a list. */
  add(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.set(row.uid, row);
    this.#arrange();
  }

  /** All rows, where a list was made again: those that are the same keep what they show of their changes. */
  replaceAll(rows: readonly Row[]): void {
    this.#rows.clear();
    this.add(rows);
  }

  apply(events: readonly RowEvent[], nowMs: number): void {
    const changed = new Map<string, Row>();
    const gone = new Set<string>();
    for (const { type, row } of events) {
      const old = this.#rows.get(row.uid);
      if (old !== undefined) gone.add(row.uid);
      if (type === 'DELETED') {
        this.#rows.delete(row.uid);
        changed.delete(row.uid);
        continue;
      }
      row.changedAtMs = nowMs;
      row.changes = (old?.changes ?? 0) + 1;
      this.#rows.set(row.uid, row);
      changed.set(row.uid, row);
    }
    const kept = gone.size === 0 ? this.view : this.view.filter(({ uid }) => !gone.has(uid));
    this.view = merged(kept, [...changed.values()].filter(this.#matches).sort(this.#compare), this.#compare);
  }

  search(text: string): void {
    this.#search = text.trim().toLowerCase();
    this.#arrange();
  }

  sort(sorting: Sorting | undefined): void {
    this.#sorting = sorting;
    this.#arrange();
  }

  #arrange(): void {
    this.view = [...this.#rows.values()].filter(this.#matches).sort(this.#compare);
  }

  readonly #matches = (row: Row): boolean => {
    const text = this.#search;
    if (text === '') return true;
    return row.name.includes(text) || row.namespace.includes(text) || row.cells.some((cell) => typeof cell === 'string' && cell.toLowerCase().includes(text));
  };

  readonly #compare: Compare = (a, b) => {
    const sorting = this.#sorting;
    if (sorting === undefined) return byName(a, b);
    const order = compareKeys(this.#keyOf(a, sorting.column), this.#keyOf(b, sorting.column));
    return (sorting.isDescending ? -order : order) || byName(a, b);
  };

  #keyOf(row: Row, column: number): number | string {
    if (column === NAMESPACE_COLUMN) return row.namespace;
    // What is older has the greater age.
    if (column === this.#ageColumn && !Number.isNaN(row.createdMs)) return -row.createdMs;
    return sortKey(row.cells[column] as Cell);
  }
}

/** Two sorted lists as one. */
function merged(a: readonly Row[], b: readonly Row[], compare: Compare): readonly Row[] {
  if (b.length === 0) return a;
  const result: Row[] = [];
  let next = 0;
  for (const row of a) {
    while (next < b.length && compare(b[next]!, row) < 0) result.push(b[next++]!);
    result.push(row);
  }
  while (next < b.length) result.push(b[next++]!);
  return result;
}
