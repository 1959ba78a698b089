import { expect, test } from 'vitest';
import { StreamTable } from './stream-table.ts';

test('holds what was added and not deleted, whatever came and went in between', () => {
  const table = new StreamTable<{ id: number }>();
  const model = new Map<number, { id: number }>();
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let id = 1; id < 20_000; id += 2) {
    const stream = { id };
    table.add(stream);
    model.set(id, stream);
    // Mostly one goes for each that comes; now and then a crowd gathers, and goes.
    const goes = id % 4000 < 500 ? random(2) : 1 + random(2);
    for (let i = 0; i < goes && model.size > 0; i++) {
      const gone = [...model.values()][random(model.size)]!;
      table.delete(gone);
      model.delete(gone.id);
      expect(table.get(gone.id)).toBeUndefined();
    }
    if (id % 101 !== 0) continue;
    expect(table.size).toBe(model.size);
    expect(table.values()).toEqual([...model.values()]);
    for (const one of model.values()) expect(table.get(one.id)).toBe(one);
  }
});
