import { expect, test } from 'vitest';
import { SeededRandom } from '../util/seeded-random.ts';
import { LineRing } from './line-ring.ts';

const linesOf = (ring: LineRing): string[] => ring.read(0, Infinity).bytes.toString().split('\n').slice(0, -1);

test('keeps so many lines', () => {
  const ring = new LineRing(3, 1_000);
  for (const line of ['a', 'b', 'c', 'd']) ring.add(`${line}\n`);
  expect([linesOf(ring), ring.first, ring.end]).toEqual([['b', 'c', 'd'], 1, 4]);
});

test('keeps as many as there is room for, and none that is longer than that', () => {
  const ring = new LineRing(100, 10);
  for (const line of ['abc', 'def', 'ghi']) ring.add(`${line}\n`);
  expect(linesOf(ring)).toEqual(['def', 'ghi']);
  ring.add('x'.repeat(11));
  expect(linesOf(ring)).toEqual(['def', 'ghi']);
  ring.add(`${'é'.repeat(4)}\n`);
  expect(linesOf(ring)).toEqual(['éééé']);
});

test('what is read is a copy, in parts of a size', () => {
  const ring = new LineRing(10, 100);
  for (const line of ['aa', 'bb', 'cc']) ring.add(`${line}\n`);
  expect(ring.read(0, 6)).toEqual({ bytes: Buffer.from('aa\nbb\n'), next: 2 });
  expect(ring.read(2, 1)).toEqual({ bytes: Buffer.from('cc\n'), next: 3 });
  expect(ring.read(3, 6)).toEqual({ bytes: Buffer.alloc(0), next: 3 });
});

test('is the end of all lines, whatever their lengths', () => {
  const random = new SeededRandom(25);
  const ring = new LineRing(20, 500);
  const all: string[] = [];
  for (let count = 0; count < 5_000; count++) {
    const line = `${count}${'x'.repeat(Math.floor(random.next() * 200))}`;
    all.push(line);
    ring.add(`${line}\n`);
    const kept = linesOf(ring);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept).toEqual(all.slice(-kept.length));
    expect(ring.end - ring.first).toBe(kept.length);
  }
});
