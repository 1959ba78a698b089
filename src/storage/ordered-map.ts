import { EmptyBTree } from 'sorted-btree';
import type sortedBtree from 'sorted-btree';

/** A sorted map whose `clone` takes constant time: the two share what neither has changed. */
export type OrderedMap<K, V> = sortedBtree.default<K, V>;

/** The package is CommonJS, and what its default import means differs between Node, bundlers and test runners; a named one means the same to all. */
const BTree = EmptyBTree.constructor as typeof sortedBtree.default;

export const orderedMap = <K, V>(compare: (a: K, b: K) => number): OrderedMap<K, V> => new BTree<K, V>(undefined, compare);
