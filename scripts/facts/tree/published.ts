import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FactFiles, printJson } from '../print.ts';
import { withoutProse } from '../prose.ts';

/*
 * The documents that the tree itself holds (api/openapi-spec/v3, api/discovery), for a version of which no server runs. Upstream records them with all
 * versions and gates on and without enumerations, so that they say a little less than a server's own.
 */

const OPENAPI = 'api/openapi-spec/v3';
const DISCOVERY = 'api/discovery';
/** Only there because upstream's script sets --enable-logs-handler. */
const LOGS = 'logs_openapi.json';
const OPENAPI_DEPTH = 2;
const STABLE = /__v\d+$/;

const read = (folder: string, file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));

export function publishedDocuments(tree: string): FactFiles {
  const files: FactFiles = new Map();
  const openApi = readdirSync(join(tree, OPENAPI)).filter((file) => file.endsWith('_openapi.json') && file !== LOGS);
  const paths = new Set(openApi.map((file) => file.slice(0, -'_openapi.json'.length)));
  // Stable versions are on by default (pkg/controlplane/instance.go), and so is the document of a group that has one.
  const isOn = (path: string): boolean =>
    /__v\d/.test(path) ? STABLE.test(path) : !path.startsWith('apis__') || [...paths].some((other) => other.startsWith(`${path}__`) && STABLE.test(other));
  const place = (folder: string, path: string): string => `${isOn(path) ? '' : 'optional/'}${folder}/${path}.json`;
  for (const path of paths) files.set(place('openapi-v3', path), printJson(withoutProse(read(join(tree, OPENAPI), `${path}_openapi.json`)), OPENAPI_DEPTH));
  for (const file of readdirSync(join(tree, DISCOVERY)).filter((name) => /__v\d\w*\.json$/.test(name))) {
    files.set(place('discovery', file.slice(0, -'.json'.length)), printJson(read(join(tree, DISCOVERY), file)));
  }
  return files;
}
