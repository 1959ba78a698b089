import type { Client } from './client.ts';
import { ApiError, isAborted } from './status.ts';

export type FollowState = 'loading' | 'live' | 'reconnecting';

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: unknown;
}

/** Who follows a collection: its pages come first, then what changes in it. */
export interface FollowSink {
  /** A page of a list; `isFirst` begins it anew. */
  page?(body: unknown, isFirst: boolean): void;
  /** The list is whole. */
  listed?(): void;
  events(events: WatchEvent[]): void;
  state?(state: FollowState): void;
  /** The server refuses; nothing is tried again. */
  refused?(error: ApiError): void;
}

export interface FollowRequest {
  path: string;
  query?: Record<string, string | undefined>;
  accept: string;
  pageSize?: number;
  /** A version from which to watch, for who has read the collection already. */
  from?: string;
  signal: AbortSignal;
}

interface ListMeta {
  metadata?: { resourceVersion?: string; continue?: string };
}

const PAGE_SIZE = 500;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 15_000;
/** After these the collection is listed again: the version is no longer kept, or the watch cannot be. */
const isTooOld = (error: unknown): boolean => error instanceof ApiError && (error.code === 410 || error.status.reason === 'Expired');
const isFinal = (error: unknown): error is ApiError => error instanceof ApiError && [400, 401, 403, 404, 405, 406].includes(error.code);

/** Lists, then watches, and does so again whenever the connection is lost, until the signal says that nobody looks any more. */
export async function follow(client: Client, request: FollowRequest, sink: FollowSink): Promise<void> {
  const { signal } = request;
  let version = request.from;
  let retryMs = RETRY_MIN_MS;
  sink.state?.('loading');
  while (!signal.aborted) {
    try {
      version ??= await list(client, request, sink);
      sink.state?.('live');
      const startedAt = performance.now();
      version = await watch(client, request, version, sink);
      // A watch that lasted was none that failed: servers end each after some minutes.
      if (performance.now() - startedAt > RETRY_MAX_MS) retryMs = RETRY_MIN_MS;
    } catch (error) {
      if (isAborted(error) || signal.aborted) return;
      if (isFinal(error)) return sink.refused?.(error);
      if (isTooOld(error)) version = undefined;
    }
    sink.state?.('reconnecting');
    await pause(retryMs, signal);
    retryMs = Math.min(RETRY_MAX_MS, retryMs * 2);
  }
}

async function list(client: Client, { path, query, accept, pageSize = PAGE_SIZE, signal }: FollowRequest, sink: FollowSink): Promise<string> {
  let next: string | undefined;
  let isFirst = true;
  for (;;) {
    const body: ListMeta = await client.json(path, { accept, query: { ...query, limit: String(pageSize), continue: next }, signal });
    sink.page?.(body, isFirst);
    isFirst = false;
    next = body.metadata?.continue;
    if (next === undefined || next === '') {
      sink.listed?.();
      return body.metadata?.resourceVersion ?? '';
    }
  }
}

/** Settles with the version from which to go on. */
async function watch(client: Client, { path, query, accept, signal }: FollowRequest, from: string, sink: FollowSink): Promise<string> {
  let version = from;
  const request = { accept, query: { ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: from }, signal };
  await client.lines(path, request, (documents) => {
    const events = documents as WatchEvent[];
    const failed = events.find(({ type }) => type === 'ERROR');
    if (failed !== undefined) {
      const status = failed.object as ApiError['status'];
      throw new ApiError(status.code ?? 500, status, 'GET', path);
    }
    version = versionOf(events.at(-1)!) ?? version;
    sink.events(events.filter(({ type }) => type !== 'BOOKMARK'));
  });
  return version;
}

interface Versioned {
  metadata?: { resourceVersion?: string };
  rows?: { object?: { metadata?: { resourceVersion?: string } } }[];
}

/** Of an object, or of the row of a Table. */
function versionOf({ object }: WatchEvent): string | undefined {
  const { metadata, rows } = object as Versioned;
  return rows?.at(-1)?.object?.metadata?.resourceVersion ?? (metadata?.resourceVersion || undefined);
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, durationMs);
    signal.addEventListener('abort', end);
  });
}
