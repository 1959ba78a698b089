import type { Cell, Column, Row } from '../table/table-rows.ts';
import type { Vocabulary } from './completion.ts';

/** Fields that the server selects by, beside the name and the namespace (kubernetes: pkg/apis/core/v1/conversion.go and the registries' own). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.nominatedNodeName',
  ],
  events: ['involvedObject.kind', 'involvedObject.name', 'involvedObject.namespace', 'involvedObject.uid', 'reason', 'reportingComponent', 'source', 'type'],
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  services: ['spec.clusterIP', 'spec.type'],
  jobs: ['status.successful'],
  replicationcontrollers: ['status.replicas'],
  replicasets: ['status.replicas'],
  certificatesigningrequests: ['spec.signerName'],
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'status.phase': ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown', 'Active', 'Terminating'],
  'spec.restartPolicy': ['Always', 'OnFailure', 'Never'],
  'spec.unschedulable': ['true', 'false'],
  'spec.hostNetwork': ['true', 'false'],
  'spec.type': ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'],
  type: ['Normal', 'Warning', 'Opaque', 'kubernetes.io/service-account-token', 'kubernetes.io/tls'],
};
const COLUMN_OF: Readonly<Record<string, string>> = { 'spec.nodeName': 'Node', reason: 'Reason' };

/** What can be written into a field selector, with values out of the rows where a column shows them. */
export function fieldVocabulary(plural: string, rows: readonly Row[], columns: readonly Column[]): Vocabulary {
  const names = ['metadata.name', 'metadata.namespace', ...(FIELDS[plural] ?? [])];
  return new Map(names.map((name) => [name, new Set(valuesOf(name, rows, columns))]));
}

const MAX_ROWS = 2_000;

function valuesOf(field: string, rows: readonly Row[], columns: readonly Column[]): string[] {
  const some = rows.slice(0, MAX_ROWS);
  if (field === 'metadata.name') return some.map(({ name }) => name);
  if (field === 'metadata.namespace') return some.map(({ namespace }) => namespace).filter((namespace) => namespace !== '');
  const column = columns.findIndex(({ name }) => name === COLUMN_OF[field]);
  if (column >= 0) return some.map(({ cells }) => cells[column] as Cell).filter((cell): cell is string => typeof cell === 'string' && cell !== '<none>');
  return [...(VALUES[field] ?? [])];
}
