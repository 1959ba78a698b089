/*
 * `npm run bootstrap-data` turns the recorded bootstrap objects (facts/v1.36/bootstrap) into the tables under src/kube/bootstrap/data: what a fresh server
 * makes by itself, without what depends on the run. One object a line, so that a change reads as one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { CURRENT_FACTS } from '../facts/current.ts';

export const FACTS = `${CURRENT_FACTS}/bootstrap`;
const DATA = 'src/kube/bootstrap/data';

/** Our file → the facts' file. */
export const TABLES: Record<string, string> = {
  'cluster-roles': 'clusterroles',
  'cluster-role-bindings': 'clusterrolebindings',
  roles: 'roles',
  'role-bindings': 'rolebindings',
  'flow-schemas': 'flowschemas',
  'priority-levels': 'prioritylevels',
  'priority-classes': 'priorityclasses',
};

interface FactObject {
  metadata: Record<string, unknown>;
  status?: unknown;
}

const KEPT_METADATA = ['name', 'namespace', 'labels', 'annotations'];

export function tableOf(facts: string): string {
  const lines = (JSON.parse(facts) as FactObject[]).map(({ metadata, status: _status, ...rest }) =>
    JSON.stringify(Object.assign({ metadata: keptOf(metadata) }, rest)),
  );
  return `[\n${lines.join(',\n')}\n]\n`;
}

const keptOf = (metadata: Record<string, unknown>): object =>
  Object.fromEntries(KEPT_METADATA.filter((key) => key in metadata).map((key) => [key, metadata[key]]));

export function generate(): void {
  for (const [table, facts] of Object.entries(TABLES)) writeFileSync(`${DATA}/${table}.json`, tableOf(readFileSync(`${FACTS}/${facts}.json`, 'utf8')));
}
