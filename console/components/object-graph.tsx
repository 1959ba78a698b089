import type { Resource } from '../api/discovery.ts';
import type { ApiObject } from '../api/objects.ts';
import { type PlacedNode, NODE_HEIGHT, NODE_WIDTH, layoutGraph } from '../objects/graph-layout.ts';
import { type ObjectGraph, loadGraph } from '../objects/object-graph.ts';
import { useApp } from '../state/app.ts';
import { Refused } from './refused.tsx';
import { useLoaded } from './use-loaded.ts';

interface ObjectGraphViewProps {
  object: ApiObject;
  resource: Resource;
}

const MARGIN = 16;

/** Who owns the object, and what it owns. */
export function ObjectGraphView({ object, resource }: ObjectGraphViewProps) {
  const { client, discovery } = useApp();
  const { uid, resourceVersion } = object.metadata;
  const { value: graph, error } = useLoaded((signal) => loadGraph(client, discovery.value!, object, resource, signal), [uid, resourceVersion]);
  if (error !== undefined) return <Refused error={error} />;
  return graph === undefined ? <p class="loading">Looking for owners and dependents…</p> : <Drawing graph={graph} />;
}

function Drawing({ graph }: { graph: ObjectGraph }) {
  const { nodes, edges, width, height } = layoutGraph(graph);
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Owners and dependents">
      <svg width={width + 2 * MARGIN} height={height + 2 * MARGIN} viewBox={`${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`}>
        {edges.map(({ from, to }) => (
          <path key={`${from.node.uid}-${to.node.uid}`} class="edge" d={curve(from, to)} />
        ))}
        {nodes.map((placed) => (
          <GraphBox key={placed.node.uid} placed={placed} />
        ))}
      </svg>
      {nodes.length === 1 && <p class="muted">Nothing owns it, and it owns nothing.</p>}
      {graph.unseen.length > 0 && <p class="muted">Not looked through, for want of rights: {graph.unseen.join(', ')}.</p>}
    </div>
  );
}

function curve(from: PlacedNode, to: PlacedNode): string {
  const startX = from.x + NODE_WIDTH;
  const startY = from.y + NODE_HEIGHT / 2;
  const endY = to.y + NODE_HEIGHT / 2;
  const middle = (startX + to.x) / 2;
  return `M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${to.x} ${endY}`;
}

function GraphBox({ placed: { node, x, y, isSelf } }: { placed: PlacedNode }) {
  const classes = ['node', isSelf && 'self', node.isDeleting && 'deleting', node.path === undefined && 'unknown'].filter(Boolean).join(' ');
  const box = (
    <g class={classes} transform={`translate(${x} ${y})`}>
      <title>{`${node.kind} ${node.namespace === '' ? '' : `${node.namespace}/`}${node.name}`}</title>
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={6} />
      <text x={10} y={17} class="kind">
        {node.kind}
        {node.isDeleting ? ' · being deleted' : ''}
      </text>
      <text x={10} y={33}>
        {shortened(node.name)}
      </text>
    </g>
  );
  return node.path === undefined || isSelf ? box : <a href={`#${node.path}`}>{box}</a>;
}

const MAX_CHARACTERS = 25;
const shortened = (name: string): string => (name.length > MAX_CHARACTERS ? `${name.slice(0, MAX_CHARACTERS - 9)}…${name.slice(-8)}` : name);
