import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { LiveTable } from '../state/live-table.ts';
import { columnWidths } from '../table/column-widths.ts';
import { NAMESPACE_COLUMN, type Sorting } from '../table/table-model.ts';
import type { Column, Row } from '../table/table-rows.ts';
import { TableRow } from './table-row.tsx';

interface VirtualTableProps {
  live: LiveTable;
  label: string;
  hasNamespaces: boolean;
  isWide: boolean;
  sorting: Sorting | undefined;
  onSort: (column: number) => void;
  /** The index of the row that the keys are on. */
  selected: Signal<number>;
  hrefOf: (row: Row) => string;
  nowMs: number;
}

/** Rows above and below those that are seen, so that a fast wheel shows no gap. */
const OVERSCAN = 8;
const NAMESPACE_WIDTH = 18;

/** Only the rows that are seen are in the document: ten thousand scroll as ten do. */
export function VirtualTable(props: VirtualTableProps) {
  const { live, label, hasNamespaces, isWide, selected, nowMs } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  const rowHeight = useRowHeight();
  const rows = useComputed(() => (live.version.value >= 0 ? live.model.view : [])).value;
  const shown = live.model.columns.map((column, index) => ({ column, index })).filter(({ column }) => isWide || column.priority === 0);
  const first = Math.max(0, Math.floor(top.value / rowHeight) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / rowHeight) + OVERSCAN);

  useLayoutEffect(() => {
    const element = scroller.current!;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => scrollIntoView(scroller.current!, selected.value, rowHeight), [selected.value]);

  return (
    <div class="table-scroll" ref={scroller} onScroll={(event) => (top.value = event.currentTarget.scrollTop)} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={rows.length + 1}>
        <Widths columns={shown} hasNamespaces={hasNamespaces} live={live} />
        <thead>
          <tr aria-rowindex={1}>
            {hasNamespaces && <HeaderCell name="Namespace" index={NAMESPACE_COLUMN} description="" {...props} />}
            {shown.map(({ column, index }) => (
              <HeaderCell key={column.name} name={column.name} index={index} description={column.description} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Spacer height={first * rowHeight} />}
          {rows.slice(first, last).map((row, offset) => (
            <TableRow
              key={row.uid}
              row={row}
              index={first + offset}
              columns={shown}
              hasNamespaces={hasNamespaces}
              isSelected={first + offset === selected.value}
              href={props.hrefOf(row)}
              nowMs={nowMs}
              onSelect={(index) => (selected.value = index)}
            />
          ))}
          {last < rows.length && <Spacer height={(rows.length - last) * rowHeight} />}
        </tbody>
      </table>
    </div>
  );
}

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden="true" class="spacer-row">
    <td style={{ height: `${height}px` }} />
  </tr>
);

interface WidthsProps {
  columns: { column: Column; index: number }[];
  hasNamespaces: boolean;
  live: LiveTable;
}

/** The widths are fixed, so that a row that comes into sight moves no other. The last column takes what is left. */
function Widths({ columns, hasNamespaces, live }: WidthsProps) {
  const widths = useComputed(() => (live.version.value >= 0 ? columnWidths(live.model.columns, live.model.view) : [])).value;
  return (
    <colgroup>
      {hasNamespaces && <col style={{ width: `${NAMESPACE_WIDTH}ch` }} />}
      {columns.map(({ column, index }, at) => (
        <col key={column.name} style={at === columns.length - 1 ? {} : { width: `calc(${widths[index] ?? 10}ch + 2rem)` }} />
      ))}
    </colgroup>
  );
}

interface HeaderCellProps {
  name: string;
  index: number;
  description: string;
  sorting: Sorting | undefined;
  onSort: (column: number) => void;
}

function HeaderCell({ name, index, description, sorting, onSort }: HeaderCellProps) {
  const isSorted = sorting?.column === index;
  return (
    <th scope="col" aria-sort={isSorted ? (sorting.isDescending ? 'descending' : 'ascending') : 'none'}>
      <button type="button" title={description} onClick={() => onSort(index)}>
        {name}
        <span aria-hidden="true">{isSorted ? (sorting.isDescending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

/** Fingers need more room than pointers do; tokens.css has the same numbers. */
function useRowHeight(): number {
  const isCoarse = useSignal(matchMedia('(pointer: coarse)').matches);
  return isCoarse.value ? 44 : 30;
}

function scrollIntoView(element: HTMLElement, index: number, rowHeight: number): void {
  if (index < 0) return;
  const head = rowHeight;
  const from = index * rowHeight;
  if (from < element.scrollTop) element.scrollTop = from;
  else if (from + rowHeight + head > element.scrollTop + element.clientHeight) element.scrollTop = from + rowHeight + head - element.clientHeight;
}
