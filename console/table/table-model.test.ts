import { describe, expect, test } from 'vitest';
import { formatAge } from './age.ts';
import { compareKeys, sortKey } from './cell-order.ts';
import { NAMESPACE_COLUMN, TableModel } from './table-model.ts';
import { type Cell, type Row, rowEvents, rowsOf } from './table-rows.ts';

const column = (name: string) => ({ name, type: 'string', format: '', description: '', priority: 0 });
const row = (name: string, ready: Cell = '', namespace = 'shop'): Row => ({
  uid: `${namespace}/${name}`,
  name,
  namespace,
  labels: undefined,
  createdMs: 0,
  isDeleting: false,
  cells: [name, ready],
  changedAtMs: 0,
  changes: 0,
});

function modelOf(...rows: Row[]): TableModel {
  const model = new TableModel();
  model.setColumns([column('Name'), column('Ready')]);
  model.add(rows);
  return model;
}
const shown = (model: TableModel): string[] => model.view.map(({ name }) => name);

describe('TableModel', () => {
  test('has rows by namespace and name at first', () => {
    const model = modelOf(row('b'), row('a'), row('c', '', 'bar'));
    expect(shown(model)).toEqual(['c', 'a', 'b']);
    model.sort({ column: NAMESPACE_COLUMN, isDescending: true });
    expect(shown(model)).toEqual(['a', 'b', 'c']);
  });

  test('takes events in order, whatever it is sorted by', () => {
    const model = modelOf(row('a', '1/3'), row('b', '3/3'), row('c', '2/3'));
    model.sort({ column: 1, isDescending: false });
    expect(shown(model)).toEqual(['a', 'c', 'b']);
    model.apply(
      [
        { type: 'MODIFIED', row: row('a', '3/3') },
        { type: 'ADDED', row: row('d', '0/3') },
        { type: 'DELETED', row: row('c') },
        { type: 'ADDED', row: row('e', '1/3') },
        { type: 'DELETED', row: row('e') },
      ],
      7,
    );
    expect(shown(model)).toEqual(['d', 'a', 'b']);
    expect(model.get('shop/a')).toMatchObject({ changedAtMs: 7, changes: 1 });
    expect(model.size).toBe(3);
  });

  test('a row that was deleted and made again within one batch is there once', () => {
    const model = modelOf(row('a'));
    model.apply(
      [
        { type: 'DELETED', row: row('a') },
        { type: 'ADDED', row: row('a', 'x') },
      ],
      1,
    );
    expect(shown(model)).toEqual(['a']);
  });

  test('the search holds for what comes later too', () => {
    const model = modelOf(row('web-1', 'Running'), row('db-1', 'Pending'));
    model.search('PEND');
    expect(shown(model)).toEqual(['db-1']);
    model.apply([{ type: 'MODIFIED', row: row('web-1', 'Pending') }], 1);
    expect(shown(model)).toEqual(['db-1', 'web-1']);
    model.apply([{ type: 'MODIFIED', row: row('db-1', 'Running') }], 2);
    expect(shown(model)).toEqual(['web-1']);
  });

  test('a change among ten thousand rows costs one pass', () => {
    const model = modelOf(...Array.from({ length: 10_000 }, (_, index) => row(`pod-${String(index).padStart(5, '0')}`)));
    model.apply([{ type: 'MODIFIED', row: row('pod-05000', 'x') }], 1);
    expect(model.view).toHaveLength(10_000);
    expect(model.view[5_000]).toMatchObject({ name: 'pod-05000', changes: 1 });
  });
});

describe('rows of a Table', () => {
  const body = {
    rows: [{ cells: ['web', '1/1'], object: { metadata: { name: 'web', namespace: 'shop', uid: 'u1', creationTimestamp: '2026-01-01T00:00:00Z' } } }],
  };
  test('keep what is shown of an object', () => {
    expect(rowsOf(body)).toEqual([
      expect.objectContaining({ uid: 'u1', name: 'web', namespace: 'shop', createdMs: Date.UTC(2026, 0, 1), cells: ['web', '1/1'] }),
    ]);
    expect(rowsOf({ rows: null })).toEqual([]);
  });
  test('come out of events', () => {
    expect(
      rowEvents([
        { type: 'BOOKMARK', object: { rows: [] } },
        { type: 'MODIFIED', object: body },
      ]).map(({ type, row: { uid } }) => [type, uid]),
    ).toEqual([['MODIFIED', 'u1']]);
  });
});

describe('cells', () => {
  test.each([
    ['9', '10'],
    ['900Mi', '1Gi'],
    ['3h', '2d'],
    ['45s', '3m20s'],
    ['1/3', '3/3'],
    ['50s', '5m'],
    ['0', '2 (5m ago)'],
    ['10', 'abc'],
    ['Abc', 'abd'],
  ])('%s is before %s', (a, b) => {
    expect(compareKeys(sortKey(a), sortKey(b))).toBeLessThan(0);
  });
});

test.each([
  [0, '0s'],
  [119_000, '119s'],
  [150_000, '2m30s'],
  [180_000, '3m'],
  [11 * 60_000, '11m'],
  [3.5 * 3_600_000, '3h30m'],
  [30 * 3_600_000, '30h'],
  [50 * 3_600_000, '2d2h'],
  [30 * 86_400_000, '30d'],
])('an age of %i ms is %s', (durationMs, text) => {
  expect(formatAge(durationMs)).toBe(text);
});
