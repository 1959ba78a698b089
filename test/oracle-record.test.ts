import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ORACLE_DIR } from './support/paths.ts';
import { startServer, temporaryFolder } from './support/server.ts';

/* `npm run oracle:record`: this server answers the recorded scenarios as kube-apiserver did, so that recording it gives them again. */

interface Scenario {
  name: string;
}

const scenariosIn = (folder: string): Scenario[] => JSON.parse(readFileSync(join(folder, 'semantics.json'), 'utf8')) as Scenario[];

test('a recorded scenario and a file of new ones', async () => {
  const server = await startServer();
  const corpus = temporaryFolder();
  const wanted = ['semantics/watch', join(ORACLE_DIR, 'scenarios/delete-by-uid.json')];
  await promisify(execFile)(process.execPath, [join(ORACLE_DIR, 'record.mjs'), '--from', server.url, '--corpus', corpus, ...wanted]);
  const known = new Map(scenariosIn(join(ORACLE_DIR, 'corpus')).map((scenario) => [scenario.name, scenario]));
  expect(scenariosIn(corpus)).toEqual([known.get('semantics/watch'), known.get('semantics/delete-by-uid')]);
});
