import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CURRENT_FACTS } from '../scripts/facts/current.ts';
import { connect } from '../scripts/facts/server/connection.ts';
import { readDefaultServer } from '../scripts/facts/server/read.ts';
import { PROJECT_DIR } from './support/paths.ts';
import { startServer } from './support/server.ts';

/* What `npm run facts:record` reads off this server is what it read off kube-apiserver. */

const recorded = (path: string): string => {
  const file = join(PROJECT_DIR, CURRENT_FACTS, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

test('the facts of this server are those of the version that it is', async () => {
  const server = await startServer();
  const { files, columns } = await readDefaultServer(connect(server.url, 'admin-token'));
  expect([...files].filter(([path, text]) => recorded(path) !== text).map(([path]) => path)).toEqual([]);
  const allColumns = JSON.parse(recorded('table-columns.json')) as Record<string, unknown>;
  expect(Object.entries(columns).filter(([path, own]) => JSON.stringify(own) !== JSON.stringify(allColumns[path]))).toEqual([]);
});
