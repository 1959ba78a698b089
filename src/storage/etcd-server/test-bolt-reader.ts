import { PAGE_BYTES } from './bolt-file.ts';

/* Reads a bbolt file as bbolt does, from its newest meta page down, for tests: it shares nothing with what writes the file. */

const BRANCH = 1;
const LEAF = 2;

/** Where something about the file is not as it must be. */
export class BrokenBolt extends Error {}

function assertThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new BrokenBolt(what);
}

function fnv(bytes: Buffer): bigint {
  let hash = 14_695_981_039_346_656_037n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 1_099_511_628_211n) % 2n ** 64n;
  return hash;
}

/** Every bucket's entries, in order. Throws where a page is not what it should be, is used twice, or is not used at all. */
export function readBolt(file: Buffer): Map<string, [Buffer, Buffer][]> {
  const metas = [0, 1].map((index) => readMeta(file.subarray(index * PAGE_BYTES, (index + 1) * PAGE_BYTES), index));
  const meta = metas.toSorted((a, b) => Number(b.transaction - a.transaction))[0]!;
  assertThat(meta.pageCount * PAGE_BYTES === file.length, 'the file has as many pages as it says');
  const used = new Set([0, 1]);
  const pageAt = (id: number): { bytes: Buffer; flags: number; count: number } => {
    const header = file.subarray(id * PAGE_BYTES);
    assertThat(Number(header.readBigUInt64LE(0)) === id, `page ${id} knows its number`);
    const overflow = header.readUInt32LE(12);
    for (let page = id; page <= id + overflow; page++) {
      assertThat(!used.has(page), `page ${page} is used once`);
      used.add(page);
    }
    return { bytes: header.subarray(0, (overflow + 1) * PAGE_BYTES), flags: header.readUInt16LE(8), count: header.readUInt16LE(10) };
  };
  const entriesUnder = (id: number, flags: number): [Buffer, Buffer][] => {
    const page = pageAt(id);
    const entries: [Buffer, Buffer][] = [];
    for (let i = 0; i < page.count; i++) {
      const at = 16 + i * 16;
      if (page.flags === BRANCH) {
        const key = page.bytes.subarray(at + page.bytes.readUInt32LE(at)).subarray(0, page.bytes.readUInt32LE(at + 4));
        const below = entriesUnder(Number(page.bytes.readBigUInt64LE(at + 8)), flags);
        assertThat(below[0]![0].equals(key), 'a branch names the first key below');
        entries.push(...below);
        continue;
      }
      assertThat(page.flags === LEAF, `page ${id} is a leaf`);
      assertThat(page.bytes.readUInt32LE(at) === flags, 'an entry is of the right kind');
      const start = at + page.bytes.readUInt32LE(at + 4);
      const [keyBytes, valueBytes] = [page.bytes.readUInt32LE(at + 8), page.bytes.readUInt32LE(at + 12)];
      assertThat(start + keyBytes + valueBytes <= page.bytes.length, 'an entry ends in its page');
      entries.push([page.bytes.subarray(start, start + keyBytes), page.bytes.subarray(start + keyBytes, start + keyBytes + valueBytes)]);
    }
    return entries;
  };
  const freelist = pageAt(meta.freelist);
  assertThat(freelist.flags === 0x10 && freelist.count === 0, 'no page is free');
  const buckets = new Map<string, [Buffer, Buffer][]>();
  for (const [name, value] of entriesUnder(meta.root, 1)) buckets.set(name.toString(), entriesUnder(Number(value.readBigUInt64LE(0)), 0));
  assertThat(used.size === meta.pageCount, 'every page is used');
  return buckets;
}

function readMeta(page: Buffer, index: number): { root: number; freelist: number; pageCount: number; transaction: bigint } {
  assertThat(page.readUInt16LE(8) === 4, `page ${index} is a meta page`);
  assertThat(page.readUInt32LE(16) === 0xed_0c_da_ed && page.readUInt32LE(20) === 2 && page.readUInt32LE(24) === PAGE_BYTES, 'the file is one of bbolt');
  assertThat(page.readBigUInt64LE(72) === fnv(page.subarray(16, 72)), 'the checksum is right');
  const numbers = [32, 48, 56].map((at) => Number(page.readBigUInt64LE(at)));
  return { root: numbers[0]!, freelist: numbers[1]!, pageCount: numbers[2]!, transaction: page.readBigUInt64LE(64) };
}
