import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { groupVersions, resourcesOf } from '../../src/apis/facts/resources.ts';
import { KUBERNETES_VERSION } from '../../src/options/version.ts';
import { CURRENT_FACTS } from './current.ts';
import { withoutProse } from './prose.ts';
import { readUpstreamPaths } from './upstream-paths.ts';

const json = (file: string): unknown => JSON.parse(readFileSync(join(CURRENT_FACTS, file), 'utf8'));
const documents = ['openapi-v3', 'optional/openapi-v3', 'discovery', 'optional/discovery'].flatMap((folder) =>
  readdirSync(join(CURRENT_FACTS, folder)).map((file) => `${folder}/${file}`),
);

test.each([...documents, 'table-columns.json', 'metrics.json', 'flags.json'])("%s has none of upstream's sentences", (file) => {
  const document = json(file);
  expect(withoutProse(document)).toEqual(document);
});

test('they are of the version that the server says it is', () => expect(json('about.json')).toMatchObject({ kubernetes: KUBERNETES_VERSION }));

const paths = readUpstreamPaths();
const files = Object.keys(json('upstream.json') as Record<string, string>);

test('every kind and group names upstream paths that it answers for', () => {
  const served = groupVersions.flatMap(({ group, version }) => resourcesOf(group, version).map(({ plural }) => (group === '' ? plural : `${group}/${plural}`)));
  expect(Object.keys(paths.kinds).toSorted()).toEqual([...new Set(served)].toSorted());
  expect(Object.keys(paths.groups).toSorted()).toEqual([...new Set(groupVersions.map(({ group }) => group))].toSorted());
});

test('they are there: ours in this repository, upstream’s in the tree that was recorded', () => {
  const rows = [...Object.values(paths.kinds), ...Object.values(paths.groups)];
  const ours = [...rows.map((row) => row.ours), ...Object.keys(paths.parts)];
  const upstream = [...rows.flatMap((row) => row.upstream), ...Object.values(paths.parts).flat()];
  expect(ours.filter((path) => !existsSync(path))).toEqual([]);
  expect(upstream.filter((folder) => !files.some((file) => file.startsWith(`${folder}/`)))).toEqual([]);
  expect(rows.every((row) => row.upstream.length > 0)).toBe(true);
});
