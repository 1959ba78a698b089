import type { RequestInfo } from '../endpoints/request.ts';
import type { WatchTracker } from './watch-tracker.ts';

/** The seats a request takes while it is served, and those that its aftermath (waking watchers) takes for a while longer. */
export interface WorkEstimate {
  readonly initialSeats: number;
  readonly finalSeats: number;
  readonly additionalLatencyMs: number;
}

/** What is known of a stored resource. */
export interface ResourceStats {
  count: number;
  averageBytes: number;
}

export interface EstimateSources {
  /** By `deployments.apps`; undefined for what is not stored here, such as aggregated resources. */
  statsOf(resource: string): ResourceStats | undefined;
  watches: WatchTracker;
  /** Lists cost by their bytes, or as before by their objects (SizeBasedListCostEstimate); true where absent. */
  countsBytes?: boolean | undefined;
  /** Watches that begin with the present state cost as lists do (WatchList); true where absent. */
  hasWatchList?: boolean | undefined;
}

/** What is looked at of a request. */
export interface EstimatedRequest {
  readonly info: RequestInfo;
  queryValue(name: string): string | undefined;
}

export const ONE_SEAT: WorkEstimate = Object.freeze({ initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 });

const MAX_LIST_SEATS = 100;
const MAX_LIST_SEATS_BY_OBJECTS = 10;
const OBJECTS_PER_SEAT = 100;
const MAX_MUTATING_SEATS = 10;
const BYTES_PER_SEAT = 100_000;
/** A list from the cache streams: it never holds more at once, however long it is. */
const MAX_STREAMED_BYTES = 1_000_000;
const MAX_OBJECT_BYTES = 1_500_000;
const WATCHES_PER_SEAT = 10;
const EVENT_MS = 5;

/** `onWatches` is called with how many watches a write would wake. `maxSeats` is the most that the level gives one request; 0 where it does not say (apiserver/pkg/util/flowcontrol/request). */
export function estimateWork(
  request: EstimatedRequest,
  maxSeats: number,
  sources: EstimateSources,
  onWatches: (watches: number) => void = () => {},
): WorkEstimate {
  switch (request.info.verb) {
    case 'list':
    case 'watch':
      return estimateList(request, limitOf(maxSeats, sources.countsBytes === false ? MAX_LIST_SEATS_BY_OBJECTS : MAX_LIST_SEATS), sources);
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return estimateMutation(request.info, limitOf(maxSeats, MAX_MUTATING_SEATS), sources, onWatches);
    default:
      return ONE_SEAT;
  }
}

const limitOf = (maxSeats: number, limit: number): number => (maxSeats === 0 ? limit : Math.min(maxSeats, limit));

function estimateList(request: EstimatedRequest, maxSeats: number, { statsOf, countsBytes, hasWatchList }: EstimateSources): WorkEstimate {
  const { info } = request;
  const isWatch = info.verb === 'watch';
  if (isWatch && (hasWatchList === false || !sendsInitialState(request))) return ONE_SEAT;
  const stats = statsOf(info.apiGroup === '' ? info.resource : `${info.resource}.${info.apiGroup}`);
  if (stats === undefined) return ONE_SEAT;
  const isFromCache = isWatch || !needsStorage(request);
  const seats = countsBytes === false ? seatsByObjects(request, stats.count, isFromCache) : seatsByBytes(request, stats, isFromCache);
  return seats <= 1 ? ONE_SEAT : { initialSeats: Math.min(seats, maxSeats), finalSeats: 0, additionalLatencyMs: 0 };
}

function seatsByBytes(request: EstimatedRequest, { count, averageBytes }: ResourceStats, isFromCache: boolean): number {
  const bytes = loadedObjects(request, count, isFromCache) * (averageBytes <= 0 && count > 0 ? MAX_OBJECT_BYTES : averageBytes);
  return Math.ceil((isFromCache ? Math.min(bytes, MAX_STREAMED_BYTES) : bytes) / BYTES_PER_SEAT);
}

/** A list from the store handles each object twice, and all of them to find those that are selected. */
function seatsByObjects(request: EstimatedRequest, count: number, isFromCache: boolean): number {
  if (request.info.name !== '') return 1;
  const limited = limitedCount(request, count);
  return Math.ceil((isFromCache ? count : isSelective(request) ? count + limited : 2 * limited) / OBJECTS_PER_SEAT);
}

function sendsInitialState(request: EstimatedRequest): boolean {
  const version = request.queryValue('resourceVersion') ?? '';
  return version === '' || version === '0' || isTrue(request.queryValue('sendInitialEvents'));
}

/** A parameter that is there is true, unless it says that it is not (apimachinery/pkg/runtime/converter.go). */
const isTrue = (value: string | undefined): boolean => value !== undefined && value !== '0' && value.toLowerCase() !== 'false';

/** Whether upstream would have to ask the store: an exact version, or the rest of a list that was begun. */
function needsStorage(request: EstimatedRequest): boolean {
  const match = request.queryValue('resourceVersionMatch') ?? '';
  if (match !== '') return match !== 'NotOlderThan';
  if ((request.queryValue('continue') ?? '') !== '') return true;
  const version = request.queryValue('resourceVersion') ?? '';
  return version !== '' && version !== '0' && limitParameter(request) > 0;
}

function loadedObjects(request: EstimatedRequest, count: number, isFromCache: boolean): number {
  if (request.info.name !== '') return 1;
  const limited = limitedCount(request, count);
  return !isFromCache && isSelective(request) ? Math.max(limited, Math.floor(count / 2)) : limited;
}

function limitedCount(request: EstimatedRequest, count: number): number {
  const limit = limitParameter(request);
  return limit > 0 && limit < count ? limit : count;
}

const isSelective = (request: EstimatedRequest): boolean =>
  (request.queryValue('fieldSelector') ?? '') !== '' || (request.queryValue('labelSelector') ?? '') !== '';

const limitParameter = (request: EstimatedRequest): number => Number(request.queryValue('limit') ?? 0) || 0;

function estimateMutation(info: RequestInfo, maxSeats: number, { watches }: EstimateSources, onWatches: (watches: number) => void): WorkEstimate {
  if (info.resource === 'serviceaccounts' && info.subresource === 'token') return ONE_SEAT;
  const watchers = watches.interestedIn(info);
  onWatches(watchers);
  if (watchers < WATCHES_PER_SEAT) return ONE_SEAT;
  const wantedSeats = Math.ceil(watchers / WATCHES_PER_SEAT);
  const finalSeats = Math.min(wantedSeats, maxSeats);
  return { initialSeats: 1, finalSeats, additionalLatencyMs: (wantedSeats * EVENT_MS) / finalSeats };
}
