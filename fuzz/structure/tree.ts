import type { Random } from '../../src/util/test-random.ts';

/* What nested binary formats (protobuf, DER) have in common: values that hold bytes or further values, and are written with their lengths again after a change. */

/** A value: what stands before its length, and what it holds. */
export interface TreeNode {
  /** The field's number and wire type, or the tag. */
  head: number;
  content: Buffer | TreeNode[];
}

/** How one format is changed beyond what can be done to any tree. */
export interface TreeChanges {
  /** Another head in the place of one. */
  head(random: Random, head: number): number;
  /** Other bytes in the place of some. */
  leaf(random: Random, node: TreeNode): Buffer;
}

const MAX_REPEATS = 40;
const MAX_DEPTH = 60;

/** The same list of values with something in it changed; those given stay as they are. */
export function changedTree(random: Random, nodes: readonly TreeNode[], changes: TreeChanges): TreeNode[] {
  let changed = nodes;
  for (let count = random.chance(0.7) ? 1 : 1 + random.below(3); count > 0; count--) changed = changedOnce(random, changed, nodes, changes);
  return [...changed];
}

/** Goes down to some value, and changes it or the list that it is in. `all`: where values are taken from that are put in. */
function changedOnce(random: Random, nodes: readonly TreeNode[], all: readonly TreeNode[], changes: TreeChanges): readonly TreeNode[] {
  if (nodes.length === 0) return [randomNode(random, all)];
  const at = placeIn(random, nodes);
  const node = nodes[at]!;
  const isInner = Array.isArray(node.content);
  if (isInner && random.chance(0.85)) return nodes.with(at, { ...node, content: [...changedOnce(random, node.content as TreeNode[], all, changes)] });
  switch (random.below(isInner ? 7 : 12)) {
    case 0:
      return nodes.toSpliced(at, 1);
    case 1:
      return nodes.toSpliced(random.below(nodes.length + 1), 0, node);
    case 2:
      return nodes.toSpliced(at, 0, ...Array.from({ length: 1 + random.below(MAX_REPEATS) }, () => node));
    case 3:
      return nodes.with(at, { ...node, content: randomNode(random, all).content });
    case 4:
      return nodes.with(at, { ...node, head: changes.head(random, node.head) });
    case 5:
      return nodes.toSpliced(random.below(nodes.length + 1), 0, randomNode(random, all));
    case 6:
      return nodes.with(at, nested(node, 1 + random.below(MAX_DEPTH)));
    default:
      return nodes.with(at, { ...node, content: isInner ? [] : changes.leaf(random, node) });
  }
}

/** Mostly where more is: what stands at the top is little, and everything depends on it. */
function placeIn(random: Random, nodes: readonly TreeNode[]): number {
  const [one, other] = [random.below(nodes.length), random.below(nodes.length)];
  return random.chance(0.7) && sizeOf(nodes[other]!) > sizeOf(nodes[one]!) ? other : one;
}

const sizeOf = ({ content }: TreeNode): number => (Array.isArray(content) ? content.length : 0);

function randomNode(random: Random, nodes: readonly TreeNode[]): TreeNode {
  let node = random.pick(nodes);
  while (Array.isArray(node.content) && node.content.length > 0 && random.chance(0.7)) node = random.pick(node.content);
  return node;
}

/** A value in itself, so many times. */
function nested(node: TreeNode, depth: number): TreeNode {
  let outer = node;
  for (let level = 0; level < depth; level++) outer = { ...node, content: [outer] };
  return outer;
}

const TEXTS = [
  '',
  'a',
  '*',
  '0',
  '-1',
  'a.example.org',
  'system:masters',
  '\0',
  '../..',
  '\u{1f600}',
  'x'.repeat(253),
  'x'.repeat(300),
  '1Gi',
  '__proto__',
  'null',
];

/** Some text or bytes in the place of others. */
export function changedBytes(random: Random, bytes: Buffer): Buffer {
  const way = random.below(6);
  if (way === 0) return Buffer.from(random.pick(TEXTS));
  if (way === 1) return bytes.subarray(0, random.below(bytes.length + 1));
  if (way === 2) return Buffer.concat([bytes, bytes]);
  if (way === 3 || bytes.length === 0) return Buffer.from(Array.from({ length: random.below(20) }, () => random.below(256)));
  const changed = Buffer.from(bytes);
  changed[random.below(changed.length)] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)]);
  return changed;
}
