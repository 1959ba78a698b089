import { EmptyBTree } from 'sorted-btree';
import type sortedBtree from 'sorted-btree';
import diffModule from 'sorted-btree/extended/diffAgainst.js';

/** A sorted map whose `clone` takes constant time: the two share what neither has changed. */
export type OrderedMap<K, V> = sortedBtree.default<K, V>;

/** The package is CommonJS, and what its default import means differs between Node, bundlers and test runners; a named one means the same to all. */
const BTree = EmptyBTree.constructor as typeof sortedBtree.default;

export const orderedMap = <K, V>(compare: (a: K, b: K) => number): OrderedMap<K, V> => new BTree<K, V>(undefined, compare);

type Diff = typeof diffModule.default;

/** CommonJS again: to some loaders the default import is what the module exports, to others the function itself. */
const diffAgainst = typeof diffModule === 'function' ? (diffModule as Diff) : diffModule.default;

/** Where two maps differ, in no order that is promised: what they share, since one was cloned from the other, costs nothing. Values are compared by identity. */
export function forEachDifference<K, V>(
  before: OrderedMap<K, V>,
  after: OrderedMap<K, V>,
  visit: (key: K, before: V | undefined, after: V | undefined) => void,
): void {
  diffAgainst<K, V, never>(
    before,
    after,
    (key, value) => visit(key, value, undefined),
    (key, value) => visit(key, undefined, value),
    visit,
  );
}
