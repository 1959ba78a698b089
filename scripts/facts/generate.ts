import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CURRENT_FACTS } from './current.ts';
import { allSchemas, type EncodingFacts, type OpenApiDocument, type ProtoMessages, readFolder, readJson } from './openapi.ts';
import { type ApiResourceList, printResources } from './resources-table.ts';
import { buildTypes, type TypeEntry } from './types-table.ts';
import { printKindMap, printTypeModules } from './typescript-types.ts';
import { printGateHistory, printLifecycles } from './version-tables.ts';

const FACTS_FOLDER = 'src/apis/facts';
/** For the programs that the library is for. */
const KIND_MAP = 'src/testing/built-in-kinds.ts';
/** Beside the one module that reads it. */
const INTERNAL_TYPES = 'src/apis/core/pod/internal-types.json';
const GATE_HISTORY = 'src/options/feature-gate-history.ts';

/** Every generated file, by its path in the repository, made from the folder of facts alone. */
export function generate(factsFolder: string): Map<string, string> {
  const documents = new Map([
    ...readFolder<OpenApiDocument>(join(factsFolder, 'openapi-v3')),
    ...readFolder<OpenApiDocument>(join(factsFolder, 'optional/openapi-v3')),
  ]);
  const schemas = allSchemas(documents.values());
  const facts = readJson<EncodingFacts>(join(factsFolder, 'encoding.json'));
  const types = buildTypes({ schemas, messages: readJson<ProtoMessages>(join(factsFolder, 'protobuf.json')), encoding: facts });
  const lists = (folder: string): ApiResourceList[] =>
    [...readFolder<ApiResourceList>(join(factsFolder, folder)).values()].filter(({ kind }) => kind === 'APIResourceList');
  const servedPackages = new Set([...schemas.keys(), 'io.k8s.api.apidiscovery.v2.'].map(packageOf));
  const served = new Map([...types].filter(([name]) => servedPackages.has(packageOf(name))));
  const unserved = new Map([...types].filter(([name]) => !served.has(name)));
  const { kubernetes } = readJson<{ kubernetes: string }>(join(factsFolder, 'about.json'));
  return new Map([
    [GATE_HISTORY, printGateHistory(readJson(join(factsFolder, 'feature-gate-history.json')), kubernetes)],
    [`${FACTS_FOLDER}/lifecycles.ts`, printLifecycles(readJson(join(factsFolder, 'api-lifecycle.json')), kubernetes)],
    [`${FACTS_FOLDER}/types.json`, printTypes(served)],
    [`${FACTS_FOLDER}/types-unserved.json`, printTypes(unserved)],
    [`${FACTS_FOLDER}/packages.json`, printPackages(facts)],
    [INTERNAL_TYPES, `${JSON.stringify(readJson(join(factsFolder, 'internal-types.json')), undefined, 2)}\n`],
    ...[...printTypeModules(served)].map(([file, text]): [string, string] => [`${FACTS_FOLDER}/types/${file}`, text]),
    [KIND_MAP, printKindMap(served, '../apis/facts/types')],
    [
      `${FACTS_FOLDER}/resources.json`,
      printResources({
        onByDefault: lists('discovery'),
        optional: lists('optional/discovery'),
        documents,
        columns: readJson(join(factsFolder, 'table-columns.json')),
        encoding: facts,
      }),
    ],
  ]);
}

const packageOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

/** Group-version → the package of its types. */
function printPackages({ groups }: EncodingFacts): string {
  const entries = Object.entries(groups).map(([packageName, group]) => [`${group}/${packageName.slice(packageName.lastIndexOf('.') + 1)}`, packageName]);
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
}

/** One line a field, so that a change of facts reads as one. */
function printTypes(types: ReadonlyMap<string, TypeEntry>): string {
  const entries = [...types].map(([name, { fields, ...rest }]) => {
    const head = Object.entries(rest).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}, `);
    return `  ${JSON.stringify(name)}: {${head.join('')}"fields": [${fields.map((line) => `\n    ${JSON.stringify(line)}`).join(',')}\n  ]}`;
  });
  return `{\n${entries.join(',\n')}\n}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of generate(CURRENT_FACTS)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
