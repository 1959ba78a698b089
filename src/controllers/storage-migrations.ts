import type { ApiObject } from '../api/api-object.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { StorageVersionMigration } from '../apis/facts/types/storagemigration-v1beta1.ts';
import type { Client, ResourceClient, ResourceIdentity } from '../client/client.ts';
import { type Controller, type ControllerOptions, stopOnAbort } from './controller.ts';
import { WorkQueue } from './work-queue.ts';
import { TimeSlice } from '../util/time-slice.ts';

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
  const pending = new PendingMigrations();
  const queue = new WorkQueue((key) => migrateNext({ client, migrations, options }, pending, key), { ...options, name: NAME });
  const see = (migration: Migration | undefined, old: Migration | undefined): void => {
    if (migration && !isOver(migration)) queue.add(pending.add(migration));
    else pending.remove((migration ?? old)!);
  };
  stopOnAbort(options.signal, [migrations.informer.onChange(see)]);
  await migrations.informer.forEach('', (migration) => see(migration, undefined), options.signal);
};

/** Those that are not over, by the resource that they are of: who looks for the next of thousands does not read them all. */
class PendingMigrations {
  readonly #byResource = new Map<string, Map<string, boolean>>();

  /** Answers the key of its resource. */
  add(migration: Migration): string {
    const key = resourceKey(migration);
    const isRunning = isTrue(migration, 'Running');
    const names = this.#byResource.get(key);
    if (names) names.set(migration.metadata.name!, isRunning);
    else this.#byResource.set(key, new Map([[migration.metadata.name!, isRunning]]));
    return key;
  }

  remove(migration: Migration): void {
    const key = resourceKey(migration);
    const names = this.#byResource.get(key);
    names?.delete(migration.metadata.name!);
    if (names?.size === 0) this.#byResource.delete(key);
  }

  names(key: string): readonly string[] {
    return [...(this.#byResource.get(key)?.keys() ?? [])];
  }

  /** The one that is running, or the first by name. */
  next(key: string): string | undefined {
    let first: string | undefined;
    for (const [name, isRunning] of this.#byResource.get(key) ?? []) {
      if (isRunning) return name;
      if (first === undefined || name < first) first = name;
    }
    return first;
  }
}

/** Neither part can be longer than a name, or hold a space where it is served. */
const resourceKey = ({ spec: { resource } }: Migration): string => `${resource.group ?? ''} ${resource.resource ?? ''}`;

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

/** Answers when the resource is to be looked at again. */
async function migrateNext(work: Work, pending: PendingMigrations, key: string): Promise<number | void> {
  const [group, plural] = key.split(' ') as [string, string];
  const resource = findResource(work.client, group, plural);
  if (!resource) return failWithoutResource(work, pending.names(key));
  const name = pending.next(key);
  const migration = name === undefined ? undefined : work.migrations.informer.get('', name);
  if (migration && !isOver(migration)) await migrate(work, migration, resource);
  return pending.next(key) === undefined ? undefined : AT_ONCE_MS;
}

const AT_ONCE_MS = 0;

async function migrate(work: Work, migration: Migration, { group, version, plural, verbs }: ResourceIdentity): Promise<void> {
  const { client, options } = work;
  const name = migration.metadata.name!;
  if (REQUIRED_VERBS.some((verb) => !verbs.includes(verb)))
    return fail(work, name, `resource "${group}/${version}, Resource=${plural}" does not support discovery operations: [${REQUIRED_VERBS.join(' ')}]`);
  const running = await begin(work, migration);
  const refusal = await rewriteAll(client.resource(group, plural, NAME), Number(running.status!.resourceVersion), options.signal);
  if (options.signal.aborted) return;
  if (refusal) return fail(work, name, `migration encountered unhandled error: ${refusal.message}`);
  await setCondition(work, name, 'Succeeded', 'StorageVersionMigrationSucceeded', '');
}

/** Looked at again so much later. */
const RESOURCE_POLL_MS = 1_000;

async function failWithoutResource(work: Work, names: readonly string[]): Promise<number | void> {
  const nowMs = work.options.now().getTime();
  const slice = new TimeSlice();
  for (const name of names) {
    const created = work.migrations.informer.get('', name)?.metadata.creationTimestamp;
    if (created !== undefined && nowMs - Date.parse(created) >= RESOURCE_WAIT_MS) await fail(work, name, 'resource does not exist in discovery');
    if (slice.isSpent) await slice.next();
  }
  return names.length > 0 ? RESOURCE_POLL_MS : undefined;
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
  const slice = new TimeSlice();
  for (const [namespace, name] of keys) {
    if (signal.aborted) return undefined;
    if (slice.isSpent) await slice.next();
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
