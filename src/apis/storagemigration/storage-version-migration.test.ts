import { expect, test } from 'vitest';
import { cellsOf, created, updated } from '../testing/kind-tester.ts';
import { storageVersionMigrations } from './storage-version-migration.ts';

const { object } = created(storageVersionMigrations, { metadata: { name: 'm' }, spec: { resource: { group: 'apps', resource: 'deployments' } } });
const condition = (type: string, status: string) => ({ type, status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' });

test('names a resource', () => {
  const { problems } = created(storageVersionMigrations, { metadata: { name: 'm' }, spec: {} });
  expect(problems).toEqual(['spec.resource.resource: Required value: resource is required to be set']);
});

test('its spec stays', () => {
  const { problems } = updated(storageVersionMigrations, object, (next) => (next.spec.resource.resource = 'pods'));
  expect(problems).toEqual(['spec: Invalid value: {"Resource":{"group":"apps","resource":"pods"}}: field is immutable']);
});

test('once it has succeeded, it has', () => {
  const done = updated(
    storageVersionMigrations,
    object,
    (next) => (next.status = { resourceVersion: '5', conditions: [condition('Succeeded', 'True')] }),
    'status',
  );
  expect(done.problems).toEqual([]);
  expect(cellsOf(storageVersionMigrations, done.object)).toMatchObject({ Resource: 'deployments.apps', Status: 'Succeeded' });
  const { problems } = updated(storageVersionMigrations, done.object, (next) => (next.status = { resourceVersion: '07' }), 'status');
  expect(problems).toEqual([
    'status.resourceVersion: Invalid value: "07": resource version is not well formed: 07',
    'status.resourceVersion: Invalid value: "07": field is immutable',
    'status.conditions: Invalid value: null: Success condition cannot be set to false once it is true',
  ]);
});
