import { expect, test } from 'vitest';
import { jsonCodec } from '../codec.ts';
import { EntryMemory, StoredEntry } from './entry.ts';

const value = (name: string, sizeBytes: number): Buffer =>
  Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}","uid":"u"},"data":{"v":"${name.repeat(sizeBytes / name.length)}"}}`);

const entryOf = (memory: EntryMemory, name: string, revision: number, sizeBytes: number): StoredEntry => {
  const entry = new StoredEntry(`/registry/${name}`, revision, value(name, sizeBytes), memory);
  entry.enter();
  return entry;
};

/** The memory that the entries lie in. */
const memoryBytes = (entries: Iterable<StoredEntry>): number =>
  [...new Set([...entries].map(({ bytes }) => bytes.buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
const liveBytes = (entries: Iterable<StoredEntry>): number => [...entries].reduce((sum, { bytes }) => sum + bytes.length, 0);

test('entries share memory, and are moved together when most of their neighbours have gone', () => {
  const memory = new EntryMemory(jsonCodec);
  const entries = new Map(Array.from({ length: 2_000 }, (_, i) => [i, entryOf(memory, `n${i}`, i + 1, 1_000)]));
  expect(memoryBytes(entries.values())).toBeLessThan(liveBytes(entries.values()) * 1.2);
  for (const [i, entry] of entries) {
    if (i % 10 === 0) continue;
    entry.leave();
    entries.delete(i);
  }
  expect(memoryBytes(entries.values())).toBeLessThan(liveBytes(entries.values()) / 0.75 + 2 * 256 * 1024);
  for (const [i, entry] of entries) expect(entry.object()).toMatchObject({ metadata: { name: `n${i}`, resourceVersion: String(i + 1) } });
});

test('replacing entries again and again holds no more than the live ones need', () => {
  const memory = new EntryMemory(jsonCodec);
  const entries = Array.from({ length: 1_000 }, (_, i) => entryOf(memory, `n${i}`, 1, 500));
  for (let revision = 2; revision < 20_000; revision++) {
    const i = (revision * 7919) % entries.length;
    const next = entryOf(memory, `n${i}`, revision, 300 + (revision % 400));
    entries[i]!.leave();
    entries[i] = next;
  }
  expect(memoryBytes(entries)).toBeLessThan(liveBytes(entries) / 0.75 + 2 * 256 * 1024);
  expect(entries.every((entry, i) => entry.object().metadata.name === `n${i}`)).toBe(true);
});

test('who holds a view of an entry that has left reads what it was', () => {
  const memory = new EntryMemory(jsonCodec);
  const entry = entryOf(memory, 'old', 1, 1_000);
  const before = entry.bytes;
  const text = before.toString();
  entry.leave();
  for (let i = 0; i < 2_000; i++) entryOf(memory, `n${i}`, i, 1_000).leave();
  expect(before.toString()).toBe(text);
  expect(entry.bytes.toString()).toBe(text);
  expect(entry.at(9).object().metadata.resourceVersion).toBe('9');
});

test('large objects have memory of their own', () => {
  const memory = new EntryMemory(jsonCodec);
  const entry = entryOf(memory, 'large', 1, 100_000);
  expect(entry.bytes.buffer.byteLength).toBe(entry.bytes.length);
  entry.leave();
  expect(entry.object().metadata.name).toBe('large');
});

test('entries that have left, and are kept for a while, take their own size', () => {
  const memory = new EntryMemory(jsonCodec);
  const entries = Array.from({ length: 1_000 }, (_, i) => entryOf(memory, `n${i}`, 1, 1_000));
  const kept: StoredEntry[] = [];
  for (let revision = 2; revision < 10_000; revision++) {
    const i = (revision * 7919) % entries.length;
    const next = entryOf(memory, `n${i}`, revision, 1_000);
    entries[i]!.leave();
    kept.push(entries[i]!);
    entries[i] = next;
  }
  const all = [...entries, ...kept];
  expect(memoryBytes(all)).toBeLessThan(liveBytes(entries) / 0.75 + liveBytes(kept) * 1.05 + 2 * 256 * 1024);
  expect(kept.every(({ key, bytes }) => bytes.toString().includes(`"${key.slice('/registry/'.length)}"`))).toBe(true);
});
