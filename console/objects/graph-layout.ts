import type { GraphNode, ObjectGraph } from './object-graph.ts';

export interface PlacedNode {
  node: GraphNode;
  x: number;
  y: number;
  isSelf: boolean;
  /** Stands for so many of its kind, where there are too many to show each. */
  count: number;
}

export interface GraphLayout {
  nodes: PlacedNode[];
  edges: { from: PlacedNode; to: PlacedNode }[];
  width: number;
  height: number;
}

export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 42;
const GAP_X = 60;
const GAP_Y = 14;
const MAX_SIBLINGS = 8;
const MAX_LEVELS = 6;

/** Owners to the left, dependents to the right, every parent beside the middle of its children. */
export function layoutGraph({ self, owners, dependents }: ObjectGraph): GraphLayout {
  const nodes: PlacedNode[] = [];
  const edges: GraphLayout['edges'] = [];
  const seen = new Set([self.uid]);
  const firstLevel = owners.length;
  let nextY = 0;

  const place = (node: GraphNode, level: number, count: number): PlacedNode => {
    const placed: PlacedNode = { node, x: level * (NODE_WIDTH + GAP_X), y: 0, isSelf: node.uid === self.uid, count };
    nodes.push(placed);
    const children = level - firstLevel < MAX_LEVELS && count === 1 ? grouped((dependents.get(node.uid) ?? []).filter(({ uid }) => !seen.has(uid))) : [];
    for (const child of children) seen.add(child.node.uid);
    const below = children.map((child) => place(child.node, level + 1, child.count));
    for (const child of below) edges.push({ from: placed, to: child });
    if (below.length === 0) {
      placed.y = nextY;
      nextY += NODE_HEIGHT + GAP_Y;
    } else placed.y = (below[0]!.y + below.at(-1)!.y) / 2;
    return placed;
  };

  let right = [place(self, firstLevel, 1)];
  for (const [index, level] of owners.entries()) {
    const middle = right.reduce((sum, { y }) => sum + y, 0) / right.length;
    const placed = level.map((node, at) => ({
      node,
      x: (firstLevel - 1 - index) * (NODE_WIDTH + GAP_X),
      y: Math.max(0, middle + (at - (level.length - 1) / 2) * (NODE_HEIGHT + GAP_Y)),
      isSelf: false,
      count: 1,
    }));
    nodes.push(...placed);
    for (const from of placed) for (const to of right) edges.push({ from, to });
    right = placed;
  }
  return { nodes, edges, width: Math.max(...nodes.map(({ x }) => x)) + NODE_WIDTH, height: Math.max(...nodes.map(({ y }) => y)) + NODE_HEIGHT };
}

/** Many of one kind are shown as one. */
function grouped(nodes: readonly GraphNode[]): { node: GraphNode; count: number }[] {
  const byKind = new Map<string, GraphNode[]>();
  for (const node of nodes) byKind.set(node.kind, [...(byKind.get(node.kind) ?? []), node]);
  return [...byKind.values()].flatMap((same) =>
    same.length <= MAX_SIBLINGS
      ? same.map((node) => ({ node, count: 1 }))
      : [{ node: { ...same[0]!, name: `${same.length} of them`, path: undefined }, count: same.length }],
  );
}
