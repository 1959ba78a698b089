/*
 * Turns ../shared/facts/bootstrap into the tables under src/kube/bootstrap/data: what a fresh server makes by itself, without what depends on the run.
 * One object a line, so that a change reads as one.
 *
 *   npx esbuild scripts/bootstrap/run.ts --bundle --platform=node --format=esm --outfile=/tmp/bootstrap.mjs && node /tmp/bootstrap.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs';

export const FACTS = '../shared/facts/bootstrap';
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
