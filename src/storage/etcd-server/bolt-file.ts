import { fnv1a } from '../../encoding/fnv.ts';

/*
 * The file format of bbolt (go.etcd.io/bbolt page.go, db.go), which etcd's snapshots have: pages of 4 KiB, of which the first two describe the file, and B+ trees of
 * byte strings. A bucket is a tree; the buckets are the entries of one more. Trees are built from the bottom up here, of entries in order, so that no page is
 * written twice and the size of the file is known before its first byte. All numbers are little-endian, as on the machines that etcd runs on.
 */

export const PAGE_BYTES = 4096;

/** Entries in the order of their keys, compared as bytes. Sizes are asked for first, and values once each, in order. */
export interface BoltEntries {
  readonly count: number;
  keyAt(index: number): Buffer;
  valueBytesAt(index: number): number;
  /** Puts the value into `target` at `offset`. */
  copyValueAt(index: number, target: Buffer, offset: number): void;
}

export interface BoltBucket {
  readonly name: string;
  readonly entries: BoltEntries;
}

/** Entries that are in memory, in any order. */
export function entriesOf(values: ReadonlyMap<Buffer, Buffer>): BoltEntries {
  const sorted = [...values].toSorted(([a], [b]) => Buffer.compare(a, b));
  return {
    count: sorted.length,
    keyAt: (index) => sorted[index]![0],
    valueBytesAt: (index) => sorted[index]![1].length,
    copyValueAt: (index, target, offset) => void sorted[index]![1].copy(target, offset),
  };
}

const META_PAGES = 2;
const FREELIST_PAGE = META_PAGES;
const FIRST_TREE_PAGE = FREELIST_PAGE + 1;

/** Before what a page holds: its number, kind, count of elements, and how many more pages belong to it. */
const PAGE_HEADER_BYTES = 16;
/** Both of a leaf, whose elements tell their kind, and where and how long key and value are, and of a branch: where and how long the key is, and the page of the child. */
const ELEMENT_BYTES = 16;
const PageKind = { branch: 0x01, leaf: 0x02, meta: 0x04, freelist: 0x10 } as const;
const BUCKET_ELEMENT = 0x01;

const MAGIC = 0xed0cdaed;
const FORMAT_VERSION = 2;
const CHECKSUM_AT = PAGE_HEADER_BYTES + 56;

/** A page of a tree, with those that overflow from it. */
interface Node {
  readonly page: number;
  readonly pageCount: number;
  /** What its first key is that of. */
  readonly firstEntry: number;
  /** Its entries, or its children in the level below: from the first to before the end. */
  readonly first: number;
  readonly end: number;
}

interface Tree {
  readonly entries: BoltEntries;
  /** Of every value in its leaves. */
  readonly elementFlags: number;
  /** The leaves first, the root last and alone. */
  readonly levels: readonly (readonly Node[])[];
}

/** A file of these buckets, in whatever order they are named. */
export class BoltFile {
  readonly sizeBytes: number;
  readonly #trees: Tree[] = [];
  readonly #pageCount: number;

  constructor(buckets: readonly BoltBucket[]) {
    let nextPage = FIRST_TREE_PAGE;
    const add = (entries: BoltEntries, elementFlags: number): number => {
      const tree = treeOf(entries, elementFlags, nextPage);
      this.#trees.push(tree);
      const root = rootOf(tree);
      nextPage = root.page + root.pageCount;
      return root.page;
    };
    const roots = new Map(buckets.map(({ name, entries }) => [Buffer.from(name), bucketValue(add(entries, 0))]));
    add(entriesOf(roots), BUCKET_ELEMENT);
    this.#pageCount = nextPage;
    this.sizeBytes = nextPage * PAGE_BYTES;
  }

  /** The whole file, in order; each piece is some pages. */
  *pages(): Generator<Buffer> {
    const rootPage = rootOf(this.#trees.at(-1)!).page;
    for (let page = 0; page < META_PAGES; page++) yield metaPage(page, rootPage, this.#pageCount);
    yield emptyPage(FREELIST_PAGE, PageKind.freelist, 0, 1);
    for (const tree of this.#trees) {
      for (const [height, level] of tree.levels.entries()) {
        for (const node of level) yield height === 0 ? leafPage(tree, node) : branchPage(tree, tree.levels[height - 1]!, node);
      }
    }
  }
}

const rootOf = ({ levels }: Tree): Node => levels.at(-1)![0]!;

/** A bucket's root, and the number that it was asked for last (`NextSequence`), which etcd does not do. */
function bucketValue(rootPage: number): Buffer {
  const value = Buffer.alloc(16);
  value.writeBigUInt64LE(BigInt(rootPage));
  return value;
}

function treeOf(entries: BoltEntries, elementFlags: number, firstPage: number): Tree {
  const entryBytes = (index: number): number => entries.keyAt(index).length + entries.valueBytesAt(index);
  const levels = [packed(entries.count, entryBytes, (index) => index, firstPage)];
  for (let below = levels[0]!; below.length > 1; below = levels.at(-1)!) {
    const firstEntryOf = (index: number): number => below[index]!.firstEntry;
    const last = below.at(-1)!;
    levels.push(packed(below.length, (index) => entries.keyAt(firstEntryOf(index)).length, firstEntryOf, last.page + last.pageCount));
  }
  return { entries, elementFlags, levels };
}

/** As many in a page as go into it, and one at least, which then overflows. A tree of nothing is an empty leaf. */
function packed(count: number, bytesOf: (index: number) => number, firstEntryOf: (index: number) => number, firstPage: number): Node[] {
  const nodes: Node[] = [];
  let page = firstPage;
  let first = 0;
  let sizeBytes = PAGE_HEADER_BYTES;
  const finish = (end: number): void => {
    const pageCount = Math.ceil(sizeBytes / PAGE_BYTES);
    nodes.push({ page, pageCount, firstEntry: firstEntryOf(first), first, end });
    page += pageCount;
    first = end;
    sizeBytes = PAGE_HEADER_BYTES;
  };
  for (let index = 0; index < count; index++) {
    const elementBytes = ELEMENT_BYTES + bytesOf(index);
    if (index > first && sizeBytes + elementBytes > PAGE_BYTES) finish(index);
    sizeBytes += elementBytes;
  }
  if (first < count || count === 0) finish(count);
  return nodes;
}

function emptyPage(page: number, kind: number, count: number, pageCount: number): Buffer {
  const bytes = Buffer.alloc(pageCount * PAGE_BYTES);
  bytes.writeBigUInt64LE(BigInt(page), 0);
  bytes.writeUInt16LE(kind, 8);
  bytes.writeUInt16LE(count, 10);
  bytes.writeUInt32LE(pageCount - 1, 12);
  return bytes;
}

/** The second has the newer number, as after a first transaction: it counts, and the first would if it were damaged. */
function metaPage(page: number, rootPage: number, pageCount: number): Buffer {
  const bytes = emptyPage(page, PageKind.meta, 0, 1);
  bytes.writeUInt32LE(MAGIC, PAGE_HEADER_BYTES);
  bytes.writeUInt32LE(FORMAT_VERSION, PAGE_HEADER_BYTES + 4);
  bytes.writeUInt32LE(PAGE_BYTES, PAGE_HEADER_BYTES + 8);
  bytes.writeBigUInt64LE(BigInt(rootPage), PAGE_HEADER_BYTES + 16);
  bytes.writeBigUInt64LE(BigInt(FREELIST_PAGE), PAGE_HEADER_BYTES + 32);
  bytes.writeBigUInt64LE(BigInt(pageCount), PAGE_HEADER_BYTES + 40);
  bytes.writeBigUInt64LE(BigInt(page), PAGE_HEADER_BYTES + 48);
  const checksum = fnv1a(bytes.subarray(PAGE_HEADER_BYTES, CHECKSUM_AT));
  bytes.writeUInt32LE(checksum.low, CHECKSUM_AT);
  bytes.writeUInt32LE(checksum.high, CHECKSUM_AT + 4);
  return bytes;
}

function leafPage({ entries, elementFlags }: Tree, { page, pageCount, first, end }: Node): Buffer {
  const bytes = emptyPage(page, PageKind.leaf, end - first, pageCount);
  let elementAt = PAGE_HEADER_BYTES;
  let keyAt = PAGE_HEADER_BYTES + (end - first) * ELEMENT_BYTES;
  for (let index = first; index < end; index++) {
    const key = entries.keyAt(index);
    const valueBytes = entries.valueBytesAt(index);
    bytes.writeUInt32LE(elementFlags, elementAt);
    bytes.writeUInt32LE(keyAt - elementAt, elementAt + 4);
    bytes.writeUInt32LE(key.length, elementAt + 8);
    bytes.writeUInt32LE(valueBytes, elementAt + 12);
    key.copy(bytes, keyAt);
    entries.copyValueAt(index, bytes, keyAt + key.length);
    elementAt += ELEMENT_BYTES;
    keyAt += key.length + valueBytes;
  }
  return bytes;
}

function branchPage({ entries }: Tree, below: readonly Node[], { page, pageCount, first, end }: Node): Buffer {
  const bytes = emptyPage(page, PageKind.branch, end - first, pageCount);
  let elementAt = PAGE_HEADER_BYTES;
  let keyAt = PAGE_HEADER_BYTES + (end - first) * ELEMENT_BYTES;
  for (const child of below.slice(first, end)) {
    const key = entries.keyAt(child.firstEntry);
    bytes.writeUInt32LE(keyAt - elementAt, elementAt);
    bytes.writeUInt32LE(key.length, elementAt + 4);
    bytes.writeBigUInt64LE(BigInt(child.page), elementAt + 8);
    key.copy(bytes, keyAt);
    elementAt += ELEMENT_BYTES;
    keyAt += key.length;
  }
  return bytes;
}
