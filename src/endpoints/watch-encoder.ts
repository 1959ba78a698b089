import type { Column } from '../registry/definition.ts';
import { normalize } from '../schema/normalize.ts';
import { encodeWatchFrame } from '../schema/protobuf.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { Status } from '../api/errors.ts';
import { cborWatchFrame } from './encode-cbor.ts';
import { encodeObject, encodePartial, encodeTable, tableOptions } from './encode.ts';
import { CBOR_TYPE, type OutputForm, PROTOBUF_TYPE } from './negotiation.ts';
import { encodeStatus } from './status.ts';
import type { TableOptions } from './table.ts';
import type { EndpointEnvironment, ResourceTarget } from './target.ts';
import { LooseEntry, type ClientView, formName, unconverted, clientViewOf } from './view.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

const encoders = new WeakMap<ClientView, Map<string, WatchEncoder>>();

/** The encoder of all watches of this form; tables are each watch's own. Throws where the query asks for tables that there are not. */
export function watchEncoder(target: ResourceTarget, form: OutputForm, query: URLSearchParams): WatchEncoder {
  const view = clientViewOf(target);
  const { mediaType, transform } = form;
  const name = `watch ${mediaType} ${transform ? `${transform.kind} ${transform.version}` : formName(view)}`;
  if (transform?.kind === 'Table') return new WatchEncoder(view, form, name, tableOptions(transform, query));
  let byForm = encoders.get(view);
  if (byForm === undefined) encoders.set(view, (byForm = new Map()));
  let encoder = byForm.get(name);
  if (encoder === undefined) byForm.set(name, (encoder = new WatchEncoder(view, form, name, undefined)));
  return encoder;
}

interface Bookmark {
  readonly revision: number;
  readonly isInitialEventsEnd: boolean;
  readonly frame: Buffer;
}

/** Makes the frames of watches. Frames of events are kept with the event's object, so that all watchers of one form share them. */
export class WatchEncoder {
  readonly #view: ClientView;
  readonly #form: OutputForm;
  readonly #environment: EndpointEnvironment;
  /** By event type: under which name an entry keeps the frame. */
  readonly #frameNames: Record<EventType, string>;
  readonly #table: TableOptions | undefined;
  #hasSentColumns = false;
  /** Ten thousand watches that nothing happens to are sent the same ones. */
  #lastBookmark: Bookmark | undefined;

  /** `name`: of the form. */
  constructor(view: ClientView, form: OutputForm, name: string, table: TableOptions | undefined) {
    this.#view = view;
    this.#form = form;
    this.#environment = view.environment;
    this.#table = table;
    this.#frameNames = { ADDED: `${name} ADDED`, MODIFIED: `${name} MODIFIED`, DELETED: `${name} DELETED` };
  }

  event(type: EventType, entry: CacheEntry): Buffer {
    // Ages in cells differ from moment to moment, and the columns are sent once: tables are each watcher's own.
    if (this.#table) return this.#frame(type, this.#encode(this.#view, entry));
    return entry.form(this.#frameNames[type], () => this.#frame(type, this.#encode(this.#view, entry)));
  }

  /** An object of the kind with nothing in it but the version that the watch has reached. */
  bookmark(revision: number, isInitialEventsEnd: boolean): Buffer {
    const last = this.#lastBookmark;
    if (last?.revision === revision && last.isInitialEventsEnd === isInitialEventsEnd) return last.frame;
    const frame = this.#makeBookmark(revision, isInitialEventsEnd);
    if (this.#table === undefined) this.#lastBookmark = { revision, isInitialEventsEnd, frame };
    return frame;
  }

  error(status: Status): Buffer {
    return this.#frame('ERROR', encodeStatus(this.#environment, this.#form.mediaType, status));
  }

  #makeBookmark(revision: number, isInitialEventsEnd: boolean): Buffer {
    const { kind, apiVersion, emptyObject } = this.#view;
    const annotations = { ...emptyObject?.annotations, ...(isInitialEventsEnd && { [INITIAL_EVENTS_END]: 'true' }) };
    const metadata = { resourceVersion: String(revision), annotations };
    const object = normalize(kind.schema, { kind: kind.kind, apiVersion, metadata, ...(emptyObject?.spec && { spec: emptyObject.spec }) });
    return this.#frame('BOOKMARK', this.#encode(bookmarkView(this.#view), new LooseEntry(object as unknown as ApiObject)));
  }

  #encode(view: ClientView, entry: CacheEntry): Buffer {
    const { transform } = this.#form;
    if (transform === undefined) return encodeObject(view, this.#form, entry);
    if (this.#table) {
      const table = encodeTable(view, this.#table, entry, !this.#hasSentColumns);
      this.#hasSentColumns = true;
      return table;
    }
    return encodePartial(view, this.#form, transform, entry);
  }

  #frame(type: EventType | 'BOOKMARK' | 'ERROR', object: Buffer): Buffer {
    if (this.#form.mediaType === CBOR_TYPE) return cborWatchFrame(type, object);
    return this.#form.mediaType === PROTOBUF_TYPE ? encodeWatchFrame(type, object) : Buffer.concat([JSON_HEADS[type], object, JSON_TAIL]);
  }
}

/** A bookmark's row is that of an object with nothing in it. Cells that can not be read from one are empty. */
const bookmarkView = (view: ClientView): ClientView => ({
  ...unconverted(view),
  columns: view.columns?.map((column) => ({ ...column, cell: (...of) => cellOrEmpty(() => column.cell(...of)) })),
  rowConditions: undefined,
  compareRows: undefined,
});

type Cell = ReturnType<Column['cell']>;

function cellOrEmpty(read: () => Cell): Cell {
  try {
    return read();
  } catch {
    return '';
  }
}

const jsonHead = (type: string): Buffer => Buffer.from(`{"type":"${type}","object":`);
const JSON_HEADS = {
  ADDED: jsonHead('ADDED'),
  MODIFIED: jsonHead('MODIFIED'),
  DELETED: jsonHead('DELETED'),
  BOOKMARK: jsonHead('BOOKMARK'),
  ERROR: jsonHead('ERROR'),
};
const JSON_TAIL = Buffer.from('}\n');
