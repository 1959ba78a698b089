import { join } from 'node:path';
import { storedObject, storedResource } from '../apis/stored-resources.ts';
import { schemaOf } from '../apis/facts/schemas.ts';
import { qualifiedResource } from '../api/api-object.ts';
import type { Authorization } from '../authorization/modes.ts';
import type { Handler } from '../endpoints/request.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import { HISTORY_GROUP, HISTORY_VERSION, changeDefinition } from '../history/api/change-definition.ts';
import { ChangesStore } from '../history/api/changes-store.ts';
import { type HistoryApi, historyHandler } from '../history/api/history-handler.ts';
import { PastEntry } from '../history/api/past-cache.ts';
import { type HistoryDatabase, MemoryHistoryDatabase } from '../history/kept/history-database.ts';
import { KeptHistory } from '../history/kept/kept-history.ts';
import { SecretGuard, type SecretGuardOptions, type ValueEncryption } from '../history/kept/secret-guard.ts';
import { HISTORY_FOLDER } from '../history/kept/history-folder.ts';
import { hashKeyIn, passingHashKey } from '../history/kept/hash-key.ts';
import { AuthorLedger } from '../history/kept/author-ledger.ts';
import { StoreRecording } from '../history/kept/store-recording.ts';
import { secrets } from '../apis/core/secret.ts';
import { storageVersionHashOf } from '../registry/api-version.ts';
import { codecOf } from '../registry/stored-codec.ts';
import type { GenericServer } from '../server/generic-server.ts';
import { withResourceVersion } from '../storage/client-json.ts';
import type { Encryption } from '../storage/encryption/encryption.ts';
import { ENCRYPTED_PREFIX } from '../storage/unreadable.ts';
import type { Foundation } from './foundation.ts';
import type { HistoryKeeping } from './history-keys.ts';
import type { ObjectStores } from './object-stores.ts';
import type { StoredValues } from './stored-values.ts';

/** The history of the store, and how it is read. */
export interface OpenHistory {
  /** What stands in the stores; writes to them are noted. */
  values: StoredValues;
  serve: ServeHistory;
}

/** Serves the group history.binnacle.dev; answers what the aggregator is to hand requests on to. */
type ServeHistory = (
  foundation: Foundation,
  objects: ObjectStores,
  authorization: Authorization,
  environment: EndpointEnvironment,
  kube: GenericServer,
) => Handler;

/** --history: from now on every change is recorded. */
export async function openHistory(foundation: Foundation, stored: StoredValues, keeping: HistoryKeeping): Promise<OpenHistory> {
  const { options, clock, logger, registry, closers } = foundation;
  const limits = options.historyBounds!;
  const prefix = `${options.etcdPrefix}/`;
  const { database, hashKey } = await openDatabase(foundation);
  const { engine: inner } = stored.storage;
  const ledger = inner.isSingleWriter ? undefined : new AuthorLedger(inner, keeping.keeps);
  const values = ledger ? { ...stored, storage: { ...stored.storage, engine: ledger } } : stored;
  const secretCodec = codecOf(secrets, stored.encoding);
  const guard = new SecretGuard({
    mode: options.historySecrets as SecretGuardOptions['mode'],
    isSecret: (key) => key.startsWith(`${prefix}secrets/`),
    hashKey,
    decode: (_key, value) => secretCodec.toClientBytes(value, 0),
    encryption: valueEncryption(values.encryption, prefix),
  });
  const changes = registry.family('binnacle_history_changes_total').with();
  const pruned = registry.family('binnacle_history_pruned_changes_total').with();
  const { engine } = values.storage;
  const recording = await StoreRecording.start({
    engine,
    ledger,
    prefix,
    clock,
    isRecorded: keeping.keeps,
    onRestart: ({ message }) => logger.warn('The history begins anew: what came in between is not known', { reason: message }),
    open: (revision, isKnown) =>
      KeptHistory.open(
        {
          database,
          clock,
          limits,
          guard,
          observer: {
            recorded: (count) => changes.inc(count),
            pruned: (count) => pruned.inc(count),
            failed: (error) => logger.error('The history could not be written; it is tried again', { error }),
          },
          onDurable: (durable) => engine.keptChanges?.release(durable),
        },
        revision,
        isKnown,
      ),
  });
  keeping.needsPrevious = (key) => !guard.isPlain(key) || recording.history.isNew(key);
  closers.addHistory(() => recording.close());
  registry.onCollect(() => {
    const { queued, sizeBytes, objects } = recording.history.statistics;
    registry.family('binnacle_history_queued_changes').with().set(queued);
    registry.family('binnacle_history_size_bytes').with().set(sizeBytes);
    registry.family('binnacle_history_objects').with().set(objects);
  });
  return { values, serve: (...parts) => serveHistory(recording, guard, ...parts) };
}

async function openDatabase({ options }: Foundation): Promise<{ database: HistoryDatabase; hashKey: Buffer }> {
  if (options.storageBackend === 'memory') return { database: new MemoryHistoryDatabase(), hashKey: passingHashKey() };
  const { LmdbHistoryDatabase } = await import('../history/kept/lmdb-history-database.ts');
  const folder = join(options.dataDir, HISTORY_FOLDER);
  const database = await LmdbHistoryDatabase.open(folder);
  return { database, hashKey: hashKeyIn(folder) };
}

function valueEncryption(encryption: Encryption | undefined, prefix: string): ValueEncryption | undefined {
  if (!encryption) return undefined;
  const contextOf = (key: string) => {
    const resource = storedResource(key.slice(prefix.length));
    return { transformer: encryption.transformerFor(resource), context: { key, resource: qualifiedResource(resource) } };
  };
  return {
    async encrypt(key, value) {
      const { transformer, context } = contextOf(key);
      const encrypted = await transformer.toStorage(value, context);
      return encrypted.subarray(0, ENCRYPTED_PREFIX.length).equals(ENCRYPTED_PREFIX) ? encrypted : undefined;
    },
    async decrypt(key, value) {
      const { transformer, context } = contextOf(key);
      return (await transformer.fromStorage(value, context)).value;
    },
  };
}

const PRIORITY = { groupPriorityMinimum: 1_000, versionPriority: 100 };

function serveHistory(
  recording: StoreRecording,
  guard: SecretGuard,
  ...[{ options, servers, keeping }, { stores, admission }, { authorizer }, environment, kube]: Parameters<ServeHistory>
): Handler {
  const prefix = `${options.etcdPrefix}/`;
  const definition = changeDefinition(schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'));
  const opened = async (key: string, value: Buffer, isEncrypted: boolean): Promise<Buffer> => (isEncrypted ? guard.decrypt(key, value) : value);
  const reading: HistoryApi['reading'] = {
    placeOf: (key) => storedObject(key.slice(prefix.length)),
    clientBytes: async (key, { value, isEncrypted, revision }) =>
      guard.isMasked(key) ? withResourceVersion(value, revision) : stores.clientBytes(key, await opened(key, value, isEncrypted), revision),
  };
  const api: HistoryApi = {
    recording,
    reading,
    definition,
    admission,
    authorizer,
    servers: () => servers.value,
    isRecorded: keeping!.keeps,
    async entryOf(cache, key, { value, isEncrypted, revision }) {
      if (guard.isMasked(key)) return new PastEntry(key, revision, withResourceVersion(value, revision));
      return cache.entryAt(key, await opened(key, value, isEncrypted), revision);
    },
    shown: (entry) => (guard.isMasked(entry.key) ? new PastEntry(entry.key, entry.revision, guard.mask(entry.bytes, entry.revision)) : entry),
  };
  // Requests get a store of their own; discovery and OpenAPI ask this one for its definition.
  const store = new ChangesStore({ history: recording.history, reading, definition, admission, maySee: () => false, fromMs: 0, toMs: 0, isNewestFirst: false });
  const served = definition.served[0]!;
  const changes = { definition, served, store, subresources: {}, storageVersionHash: storageVersionHashOf(definition), isCustom: true };
  kube.install({ group: HISTORY_GROUP, version: HISTORY_VERSION, ...PRIORITY, resources: new Map([['changes', changes]]) });
  return historyHandler(api, { store, served, isCustom: true, environment }, kube.handle);
}
