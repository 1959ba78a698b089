import { formatAge } from '../table/age.ts';
import { toneOf } from '../table/cell-tone.ts';
import { textOf } from '../table/column-widths.ts';
import type { Column, Row } from '../table/table-rows.ts';

interface TableRowProps {
  row: Row;
  index: number;
  columns: readonly { column: Column; index: number }[];
  hasNamespaces: boolean;
  isSelected: boolean;
  href: string;
  nowMs: number;
  onSelect: (index: number) => void;
}

const FLASH_MS = 1_600;

export function TableRow({ row, index, columns, hasNamespaces, isSelected, href, nowMs, onSelect }: TableRowProps) {
  const isFresh = row.changedAtMs > 0 && Date.now() - row.changedAtMs < FLASH_MS;
  const classes = [isSelected && 'selected', row.isDeleting && 'deleting', isFresh && `flash-${row.changes % 2}`].filter(Boolean).join(' ');
  return (
    <tr class={classes} aria-rowindex={index + 2} aria-selected={isSelected} onClick={() => onSelect(index)} onDblClick={() => (location.hash = href)}>
      {hasNamespaces && <td title={row.namespace}>{row.namespace}</td>}
      {columns.map(({ column, index: cell }) => (
        <BodyCell key={column.name} column={column} text={cellText(row, column, cell, nowMs)} href={column.name === 'Name' || cell === 0 ? href : undefined} />
      ))}
    </tr>
  );
}

/** Ages go on while nobody asks the server. */
function cellText(row: Row, { name }: Column, index: number, nowMs: number): string {
  return name === 'Age' && !Number.isNaN(row.createdMs) ? formatAge(nowMs - row.createdMs) : textOf(row.cells[index]);
}

interface BodyCellProps {
  column: Column;
  text: string;
  href: string | undefined;
}

function BodyCell({ column, text, href }: BodyCellProps) {
  const tone = toneOf(column.name, text);
  return (
    <td title={text} class={column.type === 'integer' || column.type === 'number' ? 'number' : undefined}>
      {tone && <span class={`dot ${tone}`} aria-hidden="true" />}
      {href === undefined ? text : <a href={`#${href}`}>{text}</a>}
    </td>
  );
}
