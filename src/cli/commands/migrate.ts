import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MetricRegistry } from '../../metrics/registry.ts';
import { migrate as migrateStore } from '../../storage/migration/migrate.ts';
import { CommandError } from '../../options/command-error.ts';
import type { Output } from '../command.ts';
import type { Options } from '../../options/flags/options.ts';
import { resolveFeatureGates } from '../../options/feature-gates.ts';
import { parseFlags } from '../../options/flags/parser.ts';
import { type Logger, createLogger } from '../../compose/logger.ts';
import { type StorageSettings, openStorage } from '../../compose/storage.ts';
import { type StoredValues, openStoredValues } from '../../compose/stored-values.ts';
import { progressLine } from './progress-line.ts';
import { storedConversion } from './stored-conversion.ts';

const ETCD = 'etcd';

/** `binnacle migrate --from <store> --to <store>`: copies all objects from one store to another. */
export async function migrate(args: readonly string[], output: Output): Promise<void> {
  const { from, to, rest } = sidesOf(args);
  const { options, positional } = parseFlags(rest);
  if (positional.length > 0) throw new CommandError(`"binnacle migrate" takes flags only, got ${JSON.stringify(positional[0])}`);
  assertPossible(from, to, options);
  const logger = createLogger({ format: 'text', verbosity: options.v, write: output.stderr, minimumSeverity: 'warning' });
  const source = await openSide(from, options, logger, true);
  try {
    const target = await openSide(to, options, logger, false);
    try {
      await copyAll(source.values, target.values, options, output);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyAll(source: StoredValues, target: StoredValues, options: Options, output: Output): Promise<void> {
  const prefix = `${options.etcdPrefix}/`;
  const progress = progressLine('Migrating', output);
  try {
    const { written, skipped } = await migrateStore({
      from: source.storage.engine,
      to: target.storage.engine,
      prefix,
      convert: storedConversion({ keyPrefix: prefix, from: source.encoding, to: target.encoding }),
      ttlSecondsOf: (key) => (key.startsWith(`${prefix}events/`) ? options.eventTtlMs / 1000 : undefined),
      onProgress: progress.update,
    });
    progress.end();
    output.stdout(`${written} objects were copied${skipped > 0 ? `, and ${skipped} were there already` : ''}\n`);
  } finally {
    progress.end();
  }
}

/** Takes --from and --to off the command line; the rest are a server's flags. */
function sidesOf(args: readonly string[]): { from: string; to: string; rest: string[] } {
  const sides: Record<string, string> = {};
  const rest: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [, name, value] = /^--(from|to)(?:=(.*))?$/s.exec(args[i]!) ?? [];
    if (name === undefined) rest.push(args[i]!);
    else sides[name] = value ?? args[++i] ?? '';
  }
  const { from = '', to = '' } = sides;
  if (from === '' || to === '') throw new CommandError('say where to copy from and to: --from .binnacle --to etcd --etcd-servers=http://127.0.0.1:2379');
  return { from, to, rest };
}

function assertPossible(from: string, to: string, { etcdServers, etcdServersOverrides }: Options): void {
  if ((from === ETCD || to === ETCD) && etcdServers.length === 0) throw new CommandError('name the etcd servers with --etcd-servers');
  if (from === to || resolve(from) === resolve(to)) throw new CommandError('--from and --to are the same store');
  if (etcdServersOverrides.length > 0)
    throw new CommandError('stores of single resources (--etcd-servers-overrides) cannot be migrated: do so one store at a time');
}

interface Side {
  values: StoredValues;
  close(): Promise<void>;
}

async function openSide(name: string, options: Options, logger: Logger, mustExist: boolean): Promise<Side> {
  const dataDir = resolve(name);
  const storeDir = join(dataDir, 'store');
  if (name !== ETCD && mustExist && !existsSync(join(storeDir, 'data.mdb'))) throw new CommandError(`there is no store in ${storeDir}`);
  if (name !== ETCD) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Compaction and metrics are the servers' work.
  const settings: StorageSettings = {
    ...options,
    storageBackend: name === ETCD ? 'etcd3' : 'embedded',
    storeDir,
    featureGates: resolveFeatureGates(options.featureGates).gates,
    etcdCompactionIntervalMs: 0,
    etcdDbMetricPollIntervalMs: 0,
  };
  const registry = new MetricRegistry();
  const storage = await openStorage(settings, logger, registry);
  const values = await openStoredValues(settings, storage, logger, registry);
  return {
    values,
    async close() {
      values.close();
      await storage.close();
    },
  };
}

export const migrateHelp = (program: string): string => `Copies all objects of one store to another: from the folder of an embedded store to etcd, back, or
from folder to folder. Names, uids and the order of the objects' versions stay; the versions
themselves are the new store's. No server may be running on either.

It may be run again when it was cut off: what has arrived with the same content is passed over, and
anything else that is there is refused.

Usage:
  ${program} --from <store> --to <store> [flags]

  --from .binnacle --to etcd --etcd-servers=https://10.0.0.1:2379
  --from etcd --to .binnacle --etcd-servers=https://10.0.0.1:2379

Flags:
      --from, --to                 a folder as of --data-dir, or 'etcd'

It takes the flags of \`binnacle serve\` that say how etcd is reached and what is kept there:
--etcd-servers, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-prefix,
--storage-media-type, --encryption-provider-config, --event-ttl. Both stores are read and written
with the same encryption.
`;
