import type { ComponentChildren } from 'preact';

interface DataTableProps<T> {
  title: string;
  hint?: string;
  columns: readonly { name: string; isNumber?: boolean; isLong?: boolean; of: (row: T) => ComponentChildren }[];
  rows: readonly T[];
  empty?: string;
  keyOf: (row: T) => string;
}

const MAX_ROWS = 50;

/** A small table with a heading: a part of a page, not all of it. */
export function DataTable<T>({ title, hint, columns, rows, empty = 'None.', keyOf }: DataTableProps<T>) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {hint !== undefined && <p class="muted">{hint}</p>}
      {rows.length === 0 ? (
        <p class="muted">{empty}</p>
      ) : (
        <div class="card-scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                {columns.map(({ name, isNumber }) => (
                  <th key={name} scope="col" class={isNumber ? 'number' : undefined}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MAX_ROWS).map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(({ name, isNumber, isLong, of }) => (
                    <td key={name} class={isNumber ? 'number' : isLong ? 'long' : undefined}>
                      {of(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > MAX_ROWS && <p class="muted">and {rows.length - MAX_ROWS} more</p>}
    </section>
  );
}
