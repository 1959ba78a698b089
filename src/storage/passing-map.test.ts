import { expect, test } from 'vitest';
import { PassingMap } from './passing-map.ts';

test('is a map, however much comes and goes and whatever stays', () => {
  const passing = new PassingMap<number>();
  const model = new Map<string, number>();
  const check = (): void => {
    expect(passing.size).toBe(model.size);
    expect([...passing.values()].toSorted((a, b) => a - b)).toEqual([...model.values()].toSorted((a, b) => a - b));
    for (const [key, value] of model) expect(passing.get(key)).toBe(value);
  };
  const set = (key: string, value: number): void => {
    passing.set(key, value);
    model.set(key, value);
  };
  const remove = (key: string): void => {
    passing.delete(key);
    model.delete(key);
  };
  for (let i = 0; i < 3_000; i++) {
    set(`key-${i}`, i);
    if (i % 7 === 0) set('again', -i);
    if (i === 100) set('stays', 0.5);
    if (i === 2_000) remove('stays');
    if (i >= 50) remove(`key-${i - 50}`);
    if (i % 97 === 0) check();
  }
  remove('never there');
  check();
  expect(passing.get('key-0')).toBeUndefined();
});
