import { expect, test } from 'vitest';
import { apiGroupList, groupVersionsByPriority } from './legacy.ts';

const version = (group: string, name: string, groupPriorityMinimum = 1000, versionPriority = 100) => ({
  group,
  version: name,
  groupPriorityMinimum,
  versionPriority,
});
const VERSIONS = [version('a', 'v2'), version('b', 'v1'), version('', 'v1'), version('c', 'v1', 2000), version('c', 'v2', 1, 200)];

test('groups stand by their highest priority; of equal ones the old list goes by APIService, the new one by group', () => {
  expect((apiGroupList(VERSIONS)['groups'] as { name: string }[]).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
  expect([...groupVersionsByPriority(VERSIONS).keys()]).toEqual(['c', 'a', 'b']);
});

test('versions stand by their priority', () => {
  expect(
    groupVersionsByPriority(VERSIONS)
      .get('c')!
      .map((found) => found.version),
  ).toEqual(['v2', 'v1']);
});
