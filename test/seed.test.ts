import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import type { TestList, TestObject } from './support/api-client.ts';
import { startServer } from './support/server.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const FLOW_CONTROL = '/apis/flowcontrol.apiserver.k8s.io/v1';
const LISTS = [
  '/api/v1/namespaces',
  `${RBAC}/clusterroles`,
  `${RBAC}/clusterrolebindings`,
  `${RBAC}/roles`,
  `${RBAC}/rolebindings`,
  `${FLOW_CONTROL}/flowschemas`,
  `${FLOW_CONTROL}/prioritylevelconfigurations`,
  '/apis/scheduling.k8s.io/v1/priorityclasses',
  '/apis/apiregistration.k8s.io/v1/apiservices',
];
/** Says what is so anyway; a server that is told which APIs to serve makes its objects itself. */
const WITHOUT_SEED = '--runtime-config=api/ga=true';

/** All that a fresh server has of the seed's kinds, once it is ready. */
async function objectsOfFresh(flags: readonly string[]): Promise<TestObject[]> {
  const server = await startServer({ storage: 'embedded', flags });
  const client = server.client();
  const lists = await Promise.all(LISTS.map((path) => client.get<TestList>(path)));
  await server.stop();
  return lists.flatMap(({ items }) => items);
}

/** As text, to be compared to the letter, less what every store has its own. */
const comparable = (object: TestObject): string =>
  JSON.stringify({ ...object, metadata: { ...object.metadata, uid: '', resourceVersion: '' } }).replaceAll(/"[0-9-]{10}T[0-9:]{8}Z"/g, '"…"');

describe('a fresh store', () => {
  test('is the same whether it begins with the seed or a server makes every object', async () => {
    expect(existsSync(join(inject('distDir'), 'seed.json'))).toBe(true);
    const [seeded, made] = await Promise.all([objectsOfFresh([]), objectsOfFresh([WITHOUT_SEED])]);
    expect(seeded.map(comparable)).toEqual(made.map(comparable));
    expect(seeded.length).toBeGreaterThan(150);
  });

  test('has a version and an identity for each object, and none was written twice', async () => {
    const seeded = await objectsOfFresh([]);
    const versions = seeded.map(({ metadata }) => Number(metadata.resourceVersion)).toSorted((a, b) => a - b);
    const first = versions[0]!;
    expect(versions).toEqual(versions.map((_, index) => first + index));
    expect(new Set(seeded.map(({ metadata }) => metadata.uid)).size).toBe(seeded.length);
  });
});
