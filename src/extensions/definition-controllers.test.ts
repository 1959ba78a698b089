import { expect, test, vi } from 'vitest';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { CLEANUP_FINALIZER } from '../apis/apiextensions/custom-resource-definition.ts';
import { FakeClient } from '../client/fake-client.ts';
import { definitionControllers } from './definition-controllers.ts';
import { InstanceDeletionError } from './deleting-instances.ts';

const NOW = new Date('2026-01-01T00:00:00Z');

function definition(
  plural: string,
  kind: string,
  more: { group?: string; shortNames?: string[]; annotations?: Record<string, string>; schema?: object } = {},
): CustomResourceDefinition {
  const { group = 'example.com', shortNames, annotations, schema = { type: 'object' } } = more;
  return {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { name: `${plural}.${group}`, uid: plural, ...(annotations && { annotations }) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List`, ...(shortNames && { shortNames }) },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  };
}

async function start(deleteInstances = async (): Promise<void> => {}) {
  const client = new FakeClient();
  const definitions = client.resource<CustomResourceDefinition>('apiextensions.k8s.io', 'customresourcedefinitions');
  const stop = new AbortController();
  const report = vi.fn<(error: Error) => void>();
  await definitionControllers(client, { report, now: () => NOW, deleteInstances }).run(stop.signal);
  const conditions = (name: string): string[] =>
    (definitions.informer.get('', name)?.status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  return { definitions, conditions, stop: () => stop.abort(), report };
}

test('names are accepted, then the definition is established', async () => {
  const { definitions, conditions, stop } = await start();
  await definitions.create('', definition('things', 'Thing', { shortNames: ['th'] }));
  await vi.waitFor(() => expect(conditions('things.example.com')).toEqual(['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted']));
  expect(definitions.informer.get('', 'things.example.com')!.status.acceptedNames).toEqual({
    plural: 'things',
    kind: 'Thing',
    singular: 'thing',
    listKind: 'ThingList',
    shortNames: ['th'],
  });
  stop();
});

test('a name that is taken is waited for', async () => {
  const { definitions, conditions, stop } = await start();
  await definitions.create('', definition('things', 'Thing', { shortNames: ['x'] }));
  await vi.waitFor(() => expect(conditions('things.example.com')).toHaveLength(2));
  await definitions.create('', definition('others', 'Thing', { shortNames: ['x', 'y'] }));
  await vi.waitFor(() => expect(conditions('others.example.com')).toEqual(['NamesAccepted=False ListKindConflict', 'Established=False NotAccepted']));
  const { acceptedNames } = definitions.informer.get('', 'others.example.com')!.status;
  expect(acceptedNames).toEqual({ plural: 'others', kind: '' });
  await definitions.delete('', 'things.example.com');
  await vi.waitFor(() => expect(conditions('others.example.com')).toEqual(['NamesAccepted=True NoConflicts', 'Established=True InitialNamesAccepted']));
  stop();
});

test('other groups do not conflict; approval and structure are told', async () => {
  const { definitions, conditions, stop } = await start();
  await definitions.create('', definition('things', 'Thing'));
  await definitions.create(
    '',
    definition('things', 'Thing', { group: 'x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved' }, schema: { type: 'string' } }),
  );
  await vi.waitFor(() =>
    expect(new Set(conditions('things.x.k8s.io'))).toEqual(
      new Set([
        'NamesAccepted=True NoConflicts',
        'Established=True InitialNamesAccepted',
        'NonStructuralSchema=True Violations',
        'KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation',
      ]),
    ),
  );
  stop();
});

test('a deleted definition goes when its objects have', async () => {
  const deleted: string[] = [];
  const { definitions, conditions, stop } = await start(async () => void deleted.push('all'));
  await definitions.create('', definition('things', 'Thing'));
  await vi.waitFor(() => expect(conditions('things.example.com')).toContain('Established=True InitialNamesAccepted'));
  await definitions.update('', 'things.example.com', ({ metadata }) => {
    metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    metadata.finalizers = [CLEANUP_FINALIZER, 'example.com/mine'];
  });
  await vi.waitFor(() => expect(definitions.informer.get('', 'things.example.com')!.metadata.finalizers).toEqual(['example.com/mine']));
  expect(deleted).toEqual(['all']);
  expect(conditions('things.example.com')).toContain('Terminating=False InstanceDeletionCompleted');
  stop();
});

test('a definition whose objects cannot be deleted says why, and is tried again', async () => {
  let tries = 0;
  const { definitions, conditions, stop, report } = await start(async () => {
    if (++tries <= 2) throw new InstanceDeletionError('InstanceDeletionCheck', 'some are left');
  });
  await definitions.create('', definition('things', 'Thing'));
  await vi.waitFor(() => expect(conditions('things.example.com')).toContain('Established=True InitialNamesAccepted'));
  const told: string[] = [];
  definitions.informer.onChange(() => void told.push(conditions('things.example.com').at(-1)!));
  await definitions.update('', 'things.example.com', ({ metadata }) => {
    metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    metadata.finalizers = [CLEANUP_FINALIZER, 'example.com/mine'];
  });
  await vi.waitFor(() => expect(conditions('things.example.com')).toContain('Terminating=False InstanceDeletionCompleted'));
  expect(told.filter((one) => one.startsWith('Terminating'))).toEqual([
    'Terminating=True InstanceDeletionInProgress',
    'Terminating=True InstanceDeletionCheck',
    'Terminating=True InstanceDeletionInProgress',
    'Terminating=True InstanceDeletionCheck',
    'Terminating=True InstanceDeletionInProgress',
    'Terminating=False InstanceDeletionCompleted',
  ]);
  expect(report).toHaveBeenCalledTimes(2);
  stop();
});

test('a status that cannot be written is written later', async () => {
  const { definitions, conditions, stop } = await start();
  const update = vi.spyOn(definitions, 'update').mockRejectedValueOnce(new Error('the store is away'));
  await definitions.create('', definition('things', 'Thing'));
  await vi.waitFor(() => expect(conditions('things.example.com')).toContain('Established=True InitialNamesAccepted'));
  expect(update.mock.calls.length).toBeGreaterThan(1);
  stop();
});
