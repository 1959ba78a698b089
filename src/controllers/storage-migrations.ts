import type { ApiObject } from '../api/api-object.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { StorageVersionMigration } from '../apis/facts/types/storagemigration-v1beta1.ts';
import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import { type Controller, type ControllerOptions, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';

const GROUP = 'storagemigration.k8s.io';
const PLURAL = 'storageversionmigrations';
const NAME = 'storage-version-migrator-controller';
/** What can not be written again can not be migrated. */
const REQUIRED_VERBS = ['update', 'patch', 'list'];
/** A resource may be defined after the migration that names it. */
const RESOURCE_WAIT_MS = 60_000;
/** Failures of a moment: the migration goes on later. */
const RETRIABLE_CODES = new Set([429, 500, 503, 504]);

type Migration = StorageVersionMigration;

/**
 * Stores all objects of a resource anew, in the version, encoding and encryption of today: each is updated without a change, which writes only where what is
 * stored would be otherwise (pkg/controller/storageversionmigrator). One at a time for a resource, in the order of their names.
 */
export const runStorageMigrations: Controller = async (client, options) => {
  if (!findResource(client, GROUP, PLURAL)) return;
  const migrations = client.resource<Migration>(GROUP, PLURAL, NAME);
  await migrations.informer.synced;
  if (options.signal.aborted) return;
  const queue = new WorkQueue((name) => migrate({ client, migrations, options }, name), { ...options, name: NAME });
  const add = (migration: Migration | undefined): void => {
    if (migration && !isOver(migration)) queue.add(migration.metadata.name!);
  };
  stopOnAbort(options.signal, [migrations.informer.onChange(add)]);
  for (const migration of migrations.informer.list('')) add(migration);
};

interface Work {
  client: Client;
  migrations: ResourceClient<Migration>;
  options: ControllerOptions;
}

const findResource = (client: Client, group: string, plural: string): ResourceIdentity | undefined =>
  client.resources().find((resource) => resource.group === group && resource.plural === plural);

const isTrue = ({ status }: Migration, type: string): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
const isOver = (migration: Migration): boolean => isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed');

async function migrate(work: Work, name: string): Promise<number | void> {
  const { client, migrations, options } = work;
  const migration = migrations.informer.get('', name);
  if (!migration || isOver(migration)) return;
  const { group = '', resource: plural = '' } = migration.spec.resource;
  const resource = findResource(client, group, plural);
  if (!resource) return waitForResource(work, migration);
  if (REQUIRED_VERBS.some((verb) => !resource.verbs.includes(verb)))
    return fail(work, name, `resource "${group}/${resource.version}, Resource=${plural}" does not support discovery operations: [${REQUIRED_VERBS.join(' ')}]`);
  if (!isFirst(migrations, migration)) return WAIT_FOR_OTHERS_MS;
  const running = await begin(work, migration);
  const refusal = await rewriteAll(client.resource(group, plural, NAME), Number(running.status!.resourceVersion), options.signal);
  if (options.signal.aborted) return;
  if (refusal) return fail(work, name, `migration encountered unhandled error: ${refusal.message}`);
  await setCondition(work, name, 'Succeeded', 'StorageVersionMigrationSucceeded', '');
}

/** Looked at again so much later. */
const WAIT_FOR_OTHERS_MS = 1_000;

/** Of several migrations of a resource, the one that is running goes on, or the first by name. */
function isFirst({ informer }: ResourceClient<Migration>, { metadata, spec }: Migration): boolean {
  const isSame = (other: Migration): boolean => other.spec.resource.group === spec.resource.group && other.spec.resource.resource === spec.resource.resource;
  const others = informer.list('').filter((other) => !isOver(other) && isSame(other));
  const first = others.find((other) => isTrue(other, 'Running')) ?? others.toSorted((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))[0];
  return first?.metadata.name === metadata.name;
}

async function waitForResource(work: Work, { metadata }: Migration): Promise<number | void> {
  const ageMs = work.options.now().getTime() - Date.parse(metadata.creationTimestamp ?? '');
  if (ageMs < RESOURCE_WAIT_MS) return WAIT_FOR_OTHERS_MS;
  return fail(work, metadata.name!, 'resource does not exist in discovery');
}

/** Says that it runs, and from which version of the store on: what is written later is in today's form. */
async function begin(work: Work, migration: Migration): Promise<Migration> {
  const name = migration.metadata.name!;
  const running = isTrue(migration, 'Running') ? migration : await setCondition(work, name, 'Running', 'MigrationRunning', 'The migration is running');
  if (running.status?.resourceVersion) return running;
  return work.migrations.update('', name, (object) => void ((object.status ??= {}).resourceVersion = running.metadata.resourceVersion!), 'status');
}

/** The first object that can not be written; throws where it may be possible later. */
async function rewriteAll(resource: ResourceClient, untilVersion: number, signal: AbortSignal): Promise<ApiError | undefined> {
  await resource.informer.synced;
  const keys: [namespace: string, name: string][] = [];
  const note = ({ metadata }: ApiObject): void => {
    if (Number(metadata.resourceVersion) <= untilVersion) keys.push([metadata.namespace ?? '', metadata.name!]);
  };
  await resource.informer.scan(note, () => true, signal);
  for (const [namespace, name] of keys) {
    if (signal.aborted) return undefined;
    try {
      await resource.update(namespace, name, () => undefined);
    } catch (error) {
      // It is gone, or was written meanwhile.
      if (isApiError(error, 'NotFound') || isApiError(error, 'Conflict')) continue;
      if (!(error instanceof ApiError) || RETRIABLE_CODES.has(error.code)) throw error;
      return error;
    }
  }
  return undefined;
}

const fail = async (work: Work, name: string, message: string): Promise<void> =>
  void (await setCondition(work, name, 'Failed', 'StorageVersionMigrationFailed', message));

function setCondition({ migrations, options }: Work, name: string, type: string, reason: string, message: string): Promise<Migration> {
  const lastTransitionTime = options
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
  return migrations.update(
    '',
    name,
    (object) => {
      const status = (object.status ??= {});
      if (isTrue(object, type)) return false;
      (status.conditions ??= []).push({ type, status: 'True', lastTransitionTime, reason, message });
      return true;
    },
    'status',
  );
}
