import { badRequest, notFound } from '../../api/errors.ts';
import type { AdmissionController } from '../../registry/admission.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { ReadOnlyStore } from '../../registry/read-only-store.ts';
import type { ListOptions, ListResult, ResourceStore, Selection, WatchOptions, WatchSink } from '../../registry/store.ts';
import type { CacheEntry } from '../../storage/cache/cache.ts';
import type { Subscription } from '../../storage/engine.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { historyExpired } from '../kept/history-reader.ts';
import type { KeptHistory } from '../kept/kept-history.ts';
import { type Change, SELECTABLE } from './change-definition.ts';
import { ChangeFilter } from './change-filter.ts';
import { type ChangeReading, type ObjectPlace, changeEntry, changeObject, revisionOfName } from './change-object.ts';
import { ChangeWatch } from './change-watch.ts';

/** What one request sees of the history. */
export interface ChangeView {
  history: KeptHistory;
  reading: ChangeReading;
  definition: ResourceDefinition;
  admission: AdmissionController;
  /** Whether who asks may get the object. */
  maySee(place: ObjectPlace): boolean | Promise<boolean>;
  /** Which times it asks for. */
  fromMs: number;
  toMs: number;
  isNewestFirst: boolean;
}

/** A list without a limit has so many at the most, and goes on behind its continue token. */
const PAGE_CHANGES_MAX = 5_000;
/** Of the versions that a page is made from. */
const PAGE_BYTES_MAX = 32 * 1024 * 1024;
/** Versions of so many changes are made at once. */
const CHUNK_CHANGES = 200;

const RESOURCE = { group: 'history.binnacle.dev', resource: 'changes' };

/** Where a page begins and where its list ends. */
interface PageBounds {
  first: number;
  end: number;
  revision: number;
}

/** The changes that are kept, as a resource that is only read. Made for each request, since what is seen depends on who asks. */
export class ChangesStore extends ReadOnlyStore implements ResourceStore {
  readonly definition: ResourceDefinition;
  readonly admission: AdmissionController;
  readonly #view: ChangeView;
  readonly #seen = new Map<string, boolean | Promise<boolean>>();

  constructor(view: ChangeView) {
    super(RESOURCE);
    this.#view = view;
    this.definition = view.definition;
    this.admission = view.admission;
  }

  async get(namespace: string, name: string): Promise<CacheEntry> {
    const { history } = this.#view;
    await history.drain();
    const revision = revisionOfName(name);
    const seq = revision === undefined ? 0 : history.reader.seqAtRevision(revision);
    const [first, end] = history.range;
    const isThere = seq >= first && seq < end && history.recordAt(seq).record.revision === revision;
    const [entry] = isThere ? await this.entriesOf([seq], new ChangeFilter([], ''), undefined) : [];
    const change = entry?.object<Change>();
    if (!change || (change.metadata.namespace ?? '') !== namespace) throw notFound(RESOURCE, name);
    return entry!;
  }

  async list(namespace: string, { selection, limit, continue: token, checkWanted }: ListOptions): Promise<ListResult> {
    await this.#view.history.drain();
    const bounds = token === '' ? this.#bounds() : this.#furtherBounds(token);
    const filter = new ChangeFilter(selection.fields.requirements, namespace);
    const most = limit > 0 ? Math.min(limit, PAGE_CHANGES_MAX) : PAGE_CHANGES_MAX;
    const entries: CacheEntry[] = [];
    let sizeBytes = 0;
    let last: number | undefined;
    const slice = new TimeSlice();
    for await (const chunk of this.#chunks(bounds, filter, most)) {
      checkWanted?.();
      for (const entry of await this.entriesOf(chunk, filter, selection)) {
        entries.push(entry);
        sizeBytes += entry.bytes.length;
        if (slice.isSpent) await slice.next();
      }
      last = chunk.at(-1);
      if (entries.length >= most || sizeBytes > PAGE_BYTES_MAX) break;
      last = undefined;
    }
    const further = last === undefined ? '' : tokenOf(this.#view.isNewestFirst ? { ...bounds, end: last } : { ...bounds, first: last + 1 });
    return { entries, revision: bounds.revision, continue: further, remainingItemCount: undefined };
  }

  async watch(namespace: string, options: WatchOptions, sink: WatchSink): Promise<Subscription> {
    const { history } = this.#view;
    await history.drain();
    const [first, end] = history.range;
    const revision = Number(options.resourceVersion || 0);
    if (revision > 0 && revision < history.start.revision) throw historyExpired();
    const from = options.sendInitialEvents ? first : revision > 0 ? Math.max(first, history.reader.seqAtRevision(revision) + 1) : end;
    return new ChangeWatch(this, history, { ...options, from, filter: new ChangeFilter(options.selection.fields.requirements, namespace) }, sink);
  }

  /** The changes of these numbers that the filter, the selection and the rights of who asks let through, in their order. */
  async entriesOf(seqs: readonly number[], filter: ChangeFilter, selection: Selection | undefined): Promise<CacheEntry[]> {
    const { history, reading } = this.#view;
    const places = new Map<number, ObjectPlace>();
    for (const seq of seqs) {
      const place = await this.#placeOf(seq, filter);
      if (place) places.set(seq, place);
    }
    const entries: CacheEntry[] = [];
    const slice = new TimeSlice();
    for (const change of await history.reader.changes([...places.keys()])) {
      const object = await changeObject(change, places.get(change.seq)!, reading, slice);
      if (slice.isSpent) await slice.next();
      if (!selection || isSelected(selection, object)) entries.push(await changeEntry(object, slice));
      if (slice.isSpent) await slice.next();
    }
    return entries;
  }

  /** Of a change that is to be shown, as far as it can be told without its versions. */
  async #placeOf(seq: number, filter: ChangeFilter): Promise<ObjectPlace | undefined> {
    const { history, reading } = this.#view;
    const { key, record } = history.recordAt(seq);
    if (record.type === 'initial' || !filter.matchesRecord(record)) return undefined;
    const place = reading.placeOf(key);
    if (!place || !filter.matchesPlace(place)) return undefined;
    return (await this.#maySee(key, place)) ? place : undefined;
  }

  #maySee(key: string, place: ObjectPlace): boolean | Promise<boolean> {
    let seen = this.#seen.get(key);
    if (seen === undefined) this.#seen.set(key, (seen = this.#view.maySee(place)));
    return seen;
  }

  #bounds(): PageBounds {
    const { history, fromMs, toMs } = this.#view;
    const [start, next] = history.range;
    const first = fromMs > history.start.timeMs ? history.reader.seqAtTime(fromMs - 1) + 1 : start;
    const end = toMs < Infinity ? history.reader.seqAtTime(toMs) + 1 : next;
    return { first: Math.max(first, start), end: Math.max(first, end), revision: history.revision };
  }

  #furtherBounds(token: string): PageBounds {
    const bounds = boundsOf(token);
    const [start] = this.#view.history.range;
    if (bounds.first < start && !this.#view.isNewestFirst) throw historyExpired();
    return { ...bounds, first: Math.max(bounds.first, start) };
  }

  /** Numbers that may be wanted, in the order that was asked for, up to the chunk that completes the page. */
  async *#chunks({ first, end }: PageBounds, filter: ChangeFilter, most: number): AsyncGenerator<number[]> {
    const { history, reading, isNewestFirst } = this.#view;
    const isWanted = (key: string): boolean => {
      const place = reading.placeOf(key);
      return place !== undefined && filter.matchesPlace(place);
    };
    const seqs = filter.isOfPlace ? [...(await history.seqsOf(isWanted, first, end))] : undefined;
    const count = seqs ? seqs.length : Math.max(0, end - first);
    const slice = new TimeSlice();
    let chunk: number[] = [];
    for (let at = 0; at < count; at++) {
      const index = isNewestFirst ? count - 1 - at : at;
      const seq = seqs ? seqs[index]! : first + index;
      const { record } = history.recordAt(seq);
      if (record.type !== 'initial' && filter.matchesRecord(record)) chunk.push(seq);
      if (chunk.length >= Math.min(CHUNK_CHANGES, most)) {
        yield chunk;
        chunk = [];
      }
      if (slice.isSpent) await slice.next();
    }
    if (chunk.length > 0) yield chunk;
  }
}

/** Changes have no labels. */
const isSelected = ({ labels, fields }: Selection, change: Change): boolean =>
  labels.matches({}) &&
  fields.matches((field) => {
    if (field === 'metadata.name') return change.metadata.name ?? '';
    if (field === 'metadata.namespace') return change.metadata.namespace ?? '';
    return SELECTABLE[field]?.(change) ?? '';
  });

const tokenOf = ({ first, end, revision }: PageBounds): string => Buffer.from(JSON.stringify([first, end, revision])).toString('base64url');

function boundsOf(token: string): PageBounds {
  const refuse = (): Error => badRequest('invalid continue token');
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(token, 'base64url').toString());
  } catch {
    throw refuse();
  }
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => Number.isSafeInteger(part) && (part as number) >= 0)) throw refuse();
  const [first, end, revision] = parts as [number, number, number];
  return { first, end, revision };
}
