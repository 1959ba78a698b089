import { CommitConflict, type Engine, StorageUnavailable, type Stored } from '../engine.ts';

export interface Migration {
  from: Engine;
  to: Engine;
  /** Only keys that start so are copied: `/registry/`. */
  prefix: string;
  /** What a value becomes in the other store; undefined for what belongs to a server's life, and not to the cluster. */
  convert(stored: Stored): Promise<Buffer | undefined> | Buffer | undefined;
  /** Seconds after which the key is to go by itself. */
  ttlSecondsOf(key: string): number | undefined;
  onProgress(done: number, total: number): void;
}

export interface MigrationResult {
  written: number;
  /** Was there already, with the same content. */
  skipped: number;
}

/** A key and the revision that wrote its value: all that is kept in memory of it. */
type Place = Pick<Stored, 'key' | 'revision'>;

const KEYS_A_PAGE = 1_000;
/** Commits of a store that has one writer are made in the order in which they are asked for, and reach the disk together. */
const COMMITS_AT_ONCE = 256;

/**
 * Copies all objects, oldest change first, so that their order by version is the same in both stores, though the versions are new ones. May be run again
 * after it was cut off: what is there with the same content is passed over. Throws StorageUnavailable where something else is there, or where the source
 * changes meanwhile; what has been copied by then stays.
 */
export async function migrate(migration: Migration): Promise<MigrationResult> {
  const { from, to, onProgress } = migration;
  const places = await placesOf(migration);
  const atOnce = to.isSingleWriter ? COMMITS_AT_ONCE : 1;
  const result: MigrationResult = { written: 0, skipped: 0 };
  for (let at = 0; at < places.length; at += atOnce) {
    const sources = await Promise.all(places.slice(at, at + atOnce).map((place) => unchanged(from, place)));
    const values = await Promise.all(sources.map((source) => migration.convert(source)));
    const outcomes = await Promise.all(sources.map(({ key }, i) => (values[i] ? copy(migration, key, values[i]) : undefined)));
    for (const outcome of outcomes) if (outcome) result[outcome]++;
    onProgress(Math.min(at + atOnce, places.length), places.length);
  }
  return result;
}

/** In the order of their revisions. */
async function placesOf({ from, prefix }: Migration): Promise<Place[]> {
  const places: Place[] = [];
  let page = await from.range(prefix, { limit: KEYS_A_PAGE, hasExactCount: false });
  for (;;) {
    for (const { key, revision } of page.items) places.push({ key, revision });
    if (page.remaining === 0) return places.toSorted((a, b) => a.revision - b.revision);
    page = await from.range(prefix, { limit: KEYS_A_PAGE, hasExactCount: false, after: page.items.at(-1)!.key, revision: page.revision });
  }
}

async function unchanged(from: Engine, { key, revision }: Place): Promise<Stored> {
  const stored = await from.get(key);
  if (stored?.revision !== revision)
    throw new StorageUnavailable(`${key} was changed while it was being copied: stop the servers of that store, and run this again`);
  return stored;
}

async function copy({ to, ttlSecondsOf }: Migration, key: string, value: Buffer): Promise<'written' | 'skipped'> {
  const ttlSeconds = ttlSecondsOf(key);
  try {
    await to.commit({ type: 'put', key, value, expected: 0, ...(ttlSeconds !== undefined && { ttlSeconds }) });
    return 'written';
  } catch (error) {
    if (!(error instanceof CommitConflict)) throw error;
    if (error.current?.value.equals(value)) return 'skipped';
    throw new StorageUnavailable(`${key} is there already, with other content: migrate to an empty store, or one that this command has begun to fill`);
  }
}
