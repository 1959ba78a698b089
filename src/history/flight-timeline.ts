import { isJsonObject } from '../encoding/json.ts';
import type { RecordedResource } from './flight-format.ts';
import type { FlightReader, RecordedChange } from './flight-reader.ts';
import type { Moment, RecordedObject, Timeline, TimelineChange } from './history-source.ts';

/*
 * Watches of several resources arrive one before the other: what was stored first may be recorded later. The state of a moment is therefore that of a revision
 * of the store, the newest one that had been seen by then: what belongs to it and was recorded a little later belongs to the state too.
 *
 *     time      10:00:00.001  .003  .004 | asked for .004: revision 12
 *     recorded  pods 10       cm 12      | secrets 11 (belongs to it)   pods 13 (does not)
 */

/** So much later, what was stored before the moment is still waited for. */
const LATE_MS = 5_000;
/** Lists that are taken beside each other have versions beside each other; so many writes may lie between them. */
const NEAR_REVISIONS = 1_000;

/** Reads the state of a moment out of a recording, which is closed with the timeline. Throws an Error of one line where it does not have that moment. */
export async function readTimeline(reader: FlightReader, moment: Moment): Promise<Timeline> {
  const source = reader.changes()[Symbol.asyncIterator]();
  const stores = new RecordedStores(reader);
  const state = new Map<string, RecordedObject & { revision: number }>();
  const waiting: StampedChange[] = [];
  const cut = new Cut(moment);
  for (;;) {
    const { value: change, done } = await source.next();
    if (done) break;
    const stamped = stores.stamp(change);
    const isInFirstLists = reader.beganMs === undefined || change.timeMs <= reader.beganMs;
    if (isInFirstLists || cut.isBefore(stamped)) {
      cut.take(stamped);
      apply(state, stamped);
    } else waiting.push(stamped);
    if (waiting.length > 0 && change.timeMs > waiting[0]!.timeMs + LATE_MS) break;
  }
  cut.check(reader, (untilMs) => stores.listedUntil(untilMs));
  const later: StampedChange[] = [];
  for (const change of waiting) {
    if (!change.isApart && change.revision <= cut.revision) apply(state, change);
    else later.push(change);
  }
  const began = stores.finish();
  return {
    cluster: reader.cluster ?? { server: '', gitVersion: '' },
    atMs: cut.atMs,
    resources: [...new Map([...reader.resources.values()].map((resource) => [pluralOf(resource), resource])).values()],
    leftOut: [],
    objects: [...state.values()],
    revisionOf: (resource) => (began.isApart(resource) ? began.revisionOf(resource) : cut.revision),
    isApart: began.isApart,
    changes: () => inStoredOrder(later, source, stores),
    close: () => reader.close(),
  };
}

interface StampedChange extends RecordedChange {
  revision: number;
  isApart: boolean;
}

/** Where the state ends: by time, or by revision. */
class Cut {
  readonly #moment: Moment;
  revision = 0;
  atMs = 0;
  #isPassed = false;

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  isBefore({ timeMs, revision, isApart }: StampedChange): boolean {
    if ('timeMs' in this.#moment) return timeMs <= this.#moment.timeMs;
    if (isApart) return !this.#isPassed;
    const isBefore = revision <= this.#moment.resourceVersion;
    this.#isPassed ||= !isBefore;
    return isBefore;
  }

  take({ timeMs, revision, isApart }: StampedChange): void {
    this.atMs = Math.max(this.atMs, timeMs);
    if (!isApart) this.revision = Math.max(this.revision, revision);
  }

  /** Throws where the recording does not have the moment, once all is read that there is. `listedUntil`: the newest version of the lists until a time. */
  check({ startMs, beganMs, endMs }: FlightReader, listedUntil: (timeMs: number) => number): void {
    if (startMs === undefined || endMs === undefined) throw new Error('the recording has nothing in it yet');
    if (beganMs === undefined) throw new Error('the recording was cut off before every resource was listed once: it has the whole state of no moment');
    if ('timeMs' in this.#moment) {
      const { timeMs } = this.#moment;
      if (timeMs < startMs - 1_000) throw new Error(`the recording begins at ${new Date(startMs).toISOString()}`);
      this.atMs = Math.max(Math.min(timeMs, endMs), beganMs);
      this.revision = Math.max(this.revision, listedUntil(this.atMs));
      return;
    }
    const { resourceVersion } = this.#moment;
    const firstRevision = listedUntil(beganMs);
    if (resourceVersion < firstRevision) throw new Error(`the recording begins at resource version ${firstRevision}`);
    this.revision = resourceVersion;
  }
}

/** Which revisions a recording's changes have, in which store. */
class RecordedStores {
  readonly #reader: FlightReader;
  readonly #aggregated = new Set<string>();
  /** Of resources that count apart. */
  readonly #newest = new Map<string, number>();
  /** Of the cluster's own store. */
  #revision = 0;

  constructor(reader: FlightReader) {
    this.#reader = reader;
  }

  stamp(change: RecordedChange): StampedChange {
    this.#noteApiService(change);
    const isApart = this.isApart(change.resource);
    const told = revisionOf(change.resourceVersion);
    if (!isApart) {
      // Of a deletion that a list has shown, nobody knows the version: it was before now.
      const revision = told || this.#revision;
      this.#revision = Math.max(this.#revision, revision);
      return { ...change, revision, isApart };
    }
    const id = pluralOf(change.resource);
    const newest = this.#newest.get(id) ?? 0;
    const revision = change.isInitial && told > 0 ? told : Math.max(told, newest + 1);
    this.#newest.set(id, Math.max(newest, revision));
    return { ...change, revision, isApart };
  }

  isApart = (resource: RecordedResource): boolean => {
    if (this.#aggregated.has(`${resource.group}/${resource.version}`)) return true;
    const version = this.#reader.lists.get(resource)?.resourceVersion;
    if (version !== undefined && version !== '' && revisionOf(version) === 0) return true;
    return resource.plural === 'events' && version !== undefined && !this.#isNearOthers(revisionOf(version));
  };

  /** Of the cluster's own store. */
  listedUntil(untilMs: number): number {
    const lists = [...this.#reader.lists].filter(([resource, { timeMs }]) => timeMs <= untilMs && !this.isApart(resource));
    return lists.reduce((newest, [, { resourceVersion }]) => Math.max(newest, revisionOf(resourceVersion)), 0);
  }

  /** As it is now, whatever is read on. */
  finish(): { isApart: (resource: RecordedResource) => boolean; revisionOf: (resource: RecordedResource) => number } {
    const apart = new Set([...this.#reader.resources.values()].filter(this.isApart).map(pluralOf));
    const newest = new Map(this.#newest);
    return {
      isApart: (resource) => apart.has(pluralOf(resource)),
      revisionOf: (resource) => Math.max(newest.get(pluralOf(resource)) ?? 1, revisionOf(this.#reader.lists.get(resource)?.resourceVersion ?? '')),
    };
  }

  /** --etcd-servers-overrides: events of large clusters are kept in a store of their own. */
  #isNearOthers(revision: number): boolean {
    const others = [...this.#reader.lists].filter(([{ plural, group, version }]) => plural !== 'events' && !this.#aggregated.has(`${group}/${version}`));
    const known = others.map(([, { resourceVersion }]) => revisionOf(resourceVersion)).filter((other) => other > 0);
    if (known.length === 0) return true;
    return revision >= Math.min(...known) - NEAR_REVISIONS && revision <= Math.max(...known) + NEAR_REVISIONS;
  }

  #noteApiService({ resource, after, before }: RecordedChange): void {
    if (resource.plural !== 'apiservices' || resource.group !== 'apiregistration.k8s.io') return;
    const spec = (after ?? before)?.['spec'];
    if (!isJsonObject(spec)) return;
    const id = `${String(spec['group'])}/${String(spec['version'])}`;
    if (isJsonObject(after?.['spec']) && isJsonObject(spec['service'])) this.#aggregated.add(id);
  }
}

const revisionOf = (version: string): number => (/^[1-9]\d{0,15}$/.test(version) ? Number(version) : 0);

const pluralOf = ({ group, plural }: RecordedResource): string => `${group}/${plural}`;

function apply(state: Map<string, RecordedObject & { revision: number }>, { resource, key, after, revision }: StampedChange): void {
  const id = `${pluralOf(resource)} ${key}`;
  if (after === undefined) state.delete(id);
  else state.set(id, { resource, key, object: after, revision });
}

/** What was recorded later though it was stored before is put in its place, if it comes within LATE_MS. */
async function* inStoredOrder(
  later: readonly StampedChange[],
  source: AsyncIterator<RecordedChange, void>,
  stores: RecordedStores,
): AsyncGenerator<TimelineChange> {
  const waiting: StampedChange[] = [];
  for (const change of later) insert(waiting, change);
  let readMs = later.at(-1)?.timeMs ?? 0;
  let playedMs = 0;
  for (let isEnd = false; !isEnd || waiting.length > 0;) {
    const [first] = waiting;
    if (!isEnd && (!first || readMs <= first.timeMs + LATE_MS)) {
      const { value, done } = await source.next();
      if (done) isEnd = true;
      else {
        readMs = value.timeMs;
        insert(waiting, stores.stamp(value));
      }
      continue;
    }
    if (!first) return;
    waiting.shift();
    playedMs = Math.max(playedMs, first.timeMs);
    yield { timeMs: playedMs, resource: first.resource, key: first.key, object: first.after, revision: first.revision };
  }
}

/** They come nearly in order: its place is near the end. Those that count apart keep the order in which they came. */
function insert(waiting: StampedChange[], change: StampedChange): void {
  let at = waiting.length;
  if (!change.isApart) {
    for (let before = at - 1; before >= 0 && (waiting[before]!.isApart || waiting[before]!.revision > change.revision); before--) {
      if (!waiting[before]!.isApart) at = before;
    }
  }
  waiting.splice(at, 0, change);
}
