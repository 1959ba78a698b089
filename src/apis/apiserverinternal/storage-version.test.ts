import { expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { storageVersions } from './storage-version.ts';

const server = { apiServerID: 'a', encodingVersion: 'v1', decodableVersions: ['v1'] };
const { object } = created(storageVersions, { metadata: { name: 'apps.deployments' }, spec: {} });
const problemsOf = (status: object): string[] => updated(storageVersions, object, (next) => (next.status = status), 'status').problems;

test.each<[object, string[]]>([
  [{ storageVersions: [server], commonEncodingVersion: 'v1' }, []],
  [{ storageVersions: [server] }, ['status.commonEncodingVersion: Invalid value: null: the common encoding version is v1']],
  [
    { storageVersions: [server, { ...server, encodingVersion: 'v2' }] },
    [
      'status.storageVersions[1].apiServerID: Duplicate value: "a"',
      'status.storageVersions[1].decodableVersions: Invalid value: ["v1"]: decodableVersions must include encodingVersion v2',
    ],
  ],
  [{ conditions: [{ type: 'A', status: 'True', reason: '', message: 'm' }] }, ['status[0].reason: Required value']],
])('status %j', (status, problems) => expect(problemsOf(status)).toEqual(problems));

test.each([
  ['deployments', ['name must be in the form of <group>.<resource>']],
  ['apps.deployments', []],
])('name %s', (name, problems) => expect(storageVersions.naming!.errors!(name, false, storageVersions.settings)).toEqual(problems));

test('cells', () => {
  const { object: next } = updated(storageVersions, object, (changed) => (changed.status = { storageVersions: [server, server, server, server] }), 'status');
  expect(cellsOf(storageVersions, next)).toMatchObject({ CommonEncodingVersion: '<unset>', StorageVersions: 'a=v1,a=v1,a=v1 + 1 more...' });
});
