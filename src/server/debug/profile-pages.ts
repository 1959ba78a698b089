import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Handler, ServerRequest } from '../../endpoints/request.ts';
import type { ResponseHeaders } from '../../serving/exchange.ts';
import type { InFlightRequests, OpenWatches } from '../in-flight.ts';
import { type Activity, activitiesOf, activityProfile, contentionProfile, groupedText, separateText, threadActivities } from './activity.ts';
import { streamTrace } from './chrome-trace.ts';
import { recordCpuProfile } from './cpu-profile.ts';
import { type HeapProfileName, recordHeapProfile } from './heap-profile.ts';
import { streamHeapSnapshot } from './heap-snapshot.ts';
import { type InspectorSessions, ProfilerBusyError } from './inspector-session.ts';
import type { PprofProfile } from './pprof-profile.ts';
import { indexPage } from './profile-index.ts';

const compress = promisify(gzip);

/** Where Go has a sample of all the past, V8 samples for so long. */
const DEFAULT_HEAP_SECONDS = 5;
const DEFAULT_CPU_SECONDS = 30;
const DEFAULT_TRACE_SECONDS = 1;
/** An hour at 100 samples a second takes 30 MB; longer profiles are several. */
const MAX_SECONDS = 3600;

const PREFIX = '/debug/pprof/';
const NO_SNIFFING = { 'x-content-type-options': 'nosniff' };
const TEXT = { ...NO_SNIFFING, 'content-type': 'text/plain; charset=utf-8' };

/** What profiles tell of. */
export interface ProfiledServer {
  requests: InFlightRequests;
  watches: OpenWatches;
  /** One for all paths by which profiles are asked for. */
  profilers: InspectorSessions;
}

/** Paths, and the prefix behind which all other names are unknown profiles. Go's net/http/pprof as kube-apiserver serves it (apiserver/pkg/server/routes/profiling.go). */
export interface DebugRoutes {
  paths: ReadonlyMap<string, Handler>;
  prefixes: ReadonlyMap<string, Handler>;
}

export function profileRoutes(server: ProfiledServer): DebugRoutes {
  const sessions = server.profilers;
  const activities = (): Activity[] => activitiesOf([...server.requests.list(), ...server.watches.list()]);
  const counts = (): Map<string, number> =>
    new Map([
      ['goroutine', sum(activities())],
      ['threadcreate', sum(threadActivities())],
    ]);
  return {
    paths: new Map<string, Handler>([
      ['/debug/pprof', redirectToIndex],
      [PREFIX, ({ exchange }) => exchange.respond(200, { ...NO_SNIFFING, 'content-type': 'text/html; charset=utf-8' }, indexPage(counts()))],
      [`${PREFIX}cmdline`, ({ exchange }) => exchange.respond(200, TEXT, process.argv.join('\0'))],
      [`${PREFIX}profile`, cpuPage(sessions)],
      [`${PREFIX}heap`, heapPage(sessions, 'heap')],
      [`${PREFIX}allocs`, heapPage(sessions, 'allocs')],
      [`${PREFIX}goroutine`, activityPage('goroutine', activities)],
      [`${PREFIX}threadcreate`, activityPage('threadcreate', threadActivities)],
      [`${PREFIX}block`, contentionPage('block', 'contention')],
      [`${PREFIX}mutex`, contentionPage('mutex', 'mutex')],
      [`${PREFIX}symbol`, symbolPage],
      [`${PREFIX}trace`, tracePage(sessions, server.requests)],
      // A path of its own: whoever may see profiles need not see what the heap holds, secrets among it.
      ['/debug/v8/heapsnapshot', snapshotPage(sessions)],
    ]),
    prefixes: new Map<string, Handler>([[PREFIX, (request) => refuse(request, 404, 'Unknown profile')]]),
  };
}

const sum = (activities: readonly Activity[]): number => activities.reduce((total, { count }) => total + count, 0);

const redirectToIndex: Handler = ({ exchange }) => {
  const isRead = exchange.method === 'GET' || exchange.method === 'HEAD';
  // Go's http.Redirect.
  const headers: ResponseHeaders = { location: PREFIX, ...(isRead && { 'content-type': 'text/html; charset=utf-8' }) };
  exchange.respond(302, headers, exchange.method === 'GET' ? `<a href="${PREFIX}">Found</a>.\n\n` : undefined);
};

function cpuPage(sessions: InspectorSessions): Handler {
  return (request) =>
    unlessBusy(request, 'Could not enable CPU profiling', async () => {
      const seconds = secondsOf(request, DEFAULT_CPU_SECONDS, Number.isInteger);
      await respondProfile(request, 'profile', await recordCpuProfile(sessions, seconds, signalOf(request)));
    });
}

function heapPage(sessions: InspectorSessions, name: HeapProfileName): Handler {
  return (request) =>
    unlessBusy(request, 'Could not enable memory profiling', async () => {
      if (refusesSeconds(request)) return;
      const seconds = secondsOf(request, DEFAULT_HEAP_SECONDS, Number.isInteger);
      const collectsFirst = name === 'heap' && integerOf(request, 'gc') > 0;
      const profile = await recordHeapProfile(sessions, name, { seconds, signal: signalOf(request), collectsFirst });
      await respondProfile(request, request.query.has('seconds') ? `${name}-delta` : name, profile);
    });
}

function activityPage(name: string, activities: () => Activity[]): Handler {
  return async (request) => {
    if (refusesSeconds(request)) return;
    const debug = integerOf(request, 'debug');
    if (debug === 0) return respondProfile(request, name, activityProfile(activities(), Date.now()));
    request.exchange.respond(200, TEXT, debug >= 2 ? separateText(activities()) : groupedText(name, activities()));
  };
}

function contentionPage(name: string, heading: string): Handler {
  return async (request) => {
    if (refusesSeconds(request)) return;
    if (integerOf(request, 'debug') === 0) return respondProfile(request, name, contentionProfile(Date.now()));
    request.exchange.respond(200, TEXT, `--- ${heading}:\ncycles/second=1000000000\n# JavaScript has one thread and no locks\n`);
  };
}

/** Names are in the profiles themselves, so that nobody needs to ask; Go's tools look whether the page is there. */
const symbolPage: Handler = ({ exchange }) => exchange.respond(200, TEXT, 'num_symbols: 1\n');

function tracePage(sessions: InspectorSessions, requests: InFlightRequests): Handler {
  return (request) =>
    unlessBusy(request, 'Could not enable tracing', () => {
      const seconds = secondsOf(request, DEFAULT_TRACE_SECONDS, Number.isFinite);
      const headers = { ...NO_SNIFFING, 'content-type': 'application/json', 'content-disposition': 'attachment; filename="trace"' };
      return streamTrace(sessions, seconds, signalOf(request), () => request.exchange.startStream(200, headers), requests);
    });
}

function snapshotPage(sessions: InspectorSessions): Handler {
  return (request) =>
    unlessBusy(request, 'Could not take a heap snapshot', () => {
      const headers = { ...NO_SNIFFING, 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="binnacle.heapsnapshot"' };
      return sessions.alone('heap snapshot', () => streamHeapSnapshot(() => request.exchange.startStream(200, headers), signalOf(request)));
    });
}

async function respondProfile(request: ServerRequest, name: string, profile: PprofProfile): Promise<void> {
  const headers = { ...NO_SNIFFING, 'content-type': 'application/octet-stream', 'content-disposition': `attachment; filename="${name}"` };
  request.exchange.respond(200, headers, await compress(profile.encode()));
}

const signalOf = (request: ServerRequest): AbortSignal => request.signal ?? new AbortController().signal;

/** What is no number of seconds means the default, as Go has it for these. */
function secondsOf(request: ServerRequest, otherwise: number, isValid: (value: number) => boolean): number {
  const text = request.query.get('seconds') ?? '';
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  return isValid(seconds) && seconds > 0 ? Math.min(seconds, MAX_SECONDS) : otherwise;
}

/** Of named profiles, `seconds` means the difference over so long: true where the request was refused because of it. */
function refusesSeconds(request: ServerRequest): boolean {
  const seconds = request.query.get('seconds') ?? '';
  if (seconds === '') return false;
  if (!/^\+?\d{1,9}$/.test(seconds) || Number(seconds) <= 0) refuse(request, 400, 'invalid value for "seconds" - must be a positive integer');
  else if (integerOf(request, 'debug') !== 0) refuse(request, 400, 'seconds and debug params are incompatible');
  else return false;
  return true;
}

function integerOf(request: ServerRequest, name: string): number {
  const text = request.query.get(name) ?? '';
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : 0;
}

async function unlessBusy(request: ServerRequest, failure: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ProfilerBusyError)) throw error;
    refuse(request, 500, `${failure}: ${error.message}`);
  }
}

/** Go's serveError. */
function refuse({ exchange }: ServerRequest, status: number, text: string): void {
  exchange.respond(status, { ...TEXT, 'x-go-pprof': '1' }, `${text}\n`);
}
