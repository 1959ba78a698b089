import type { Handler, ServerRequest } from '../endpoints/request.ts';
import { formatDuration } from '../util/duration.ts';
import type { PriorityLevel } from './priority-level.ts';
import type { Ticket } from './ticket.ts';

type Row = readonly string[];

/** The tables under /debug/api_priority_and_fairness/, for people who wonder who waits for whom (apf_controller_debug.go). */
export function flowControlDumps(levels: () => readonly PriorityLevel[]): Map<string, Handler> {
  const table =
    (rowsOf: (request: ServerRequest) => Row[]): Handler =>
    (request) =>
      request.exchange.respond(200, { 'content-type': 'text/plain; charset=utf-8' }, formatTable(rowsOf(request)));
  return new Map([
    ['/debug/api_priority_and_fairness/dump_priority_levels', table(() => priorityLevels(levels()))],
    ['/debug/api_priority_and_fairness/dump_queues', table(() => queues(levels()))],
    ['/debug/api_priority_and_fairness/dump_requests', table(({ query }) => requests(levels(), (query.get('includeRequestDetails') ?? '') !== ''))],
  ]);
}

const LEVEL_COLUMNS: Row = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
  'DispatchedRequests',
  'RejectedRequests',
  'TimedoutRequests',
  'CancelledRequests',
];

/** Upstream counts what waited too long as cancelled, and nothing as timed out. */
function priorityLevels(levels: readonly PriorityLevel[]): Row[] {
  const rows = levels.map(({ name, isQuiescing, queues: set }) => {
    const active = set.queues.filter(({ waiting }) => waiting.length > 0).length;
    return [name, active, set.isIdle, isQuiescing, set.waiting, set.executing.size, set.dispatched, set.rejected, 0, set.cancelled].map(String);
  });
  return [LEVEL_COLUMNS, ...rows];
}

const QUEUE_COLUMNS: Row = [
  'PriorityLevelName',
  'Index',
  'PendingRequests',
  'ExecutingRequests',
  'SeatsInUse',
  'NextDispatchR',
  'InitialSeatsSum',
  'MaxSeatsSum',
  'TotalWorkSum',
];

function queues(levels: readonly PriorityLevel[]): Row[] {
  const rows = levels.flatMap(({ name, queues: set }) =>
    set.queues.map((queue, index) => [
      name,
      String(index),
      String(queue.waiting.length),
      String(queue.executing),
      String(queue.seatsInUse),
      seatSeconds(queue.nextDispatchR),
      String(queue.initialSeatsWaiting),
      String(queue.seatsWaiting),
      seatSeconds(queue.workWaiting),
    ]),
  );
  return [QUEUE_COLUMNS, ...rows];
}

const REQUEST_COLUMNS: Row = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher', // upstream's spelling
  'ArriveTime',
  'InitialSeats',
  'FinalSeats',
  'AdditionalLatency',
  'StartTime',
];
const DETAIL_COLUMNS: Row = ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'];

function requests(levels: readonly PriorityLevel[], hasDetails: boolean): Row[] {
  const rows: Row[] = [[...REQUEST_COLUMNS, ...(hasDetails ? DETAIL_COLUMNS : [])]];
  for (const { queues: set } of levels) {
    const add = (ticket: Ticket, queueIndex: number, index: number): void =>
      void rows.push([...requestRow(ticket, queueIndex, index), ...(hasDetails ? detailsOf(ticket) : [])]);
    set.queues.forEach(({ waiting }, queueIndex) => waiting.forEach((ticket, index) => add(ticket, queueIndex, index)));
    for (const ticket of set.executing) add(ticket, ticket.queue === undefined ? -1 : set.queues.indexOf(ticket.queue), -1);
  }
  return rows;
}

function requestRow({ flow, work, arrivalMs, startMs }: Ticket, queueIndex: number, index: number): Row {
  const { initialSeats, finalSeats, additionalLatencyMs } = work;
  return [
    flow.level.name,
    flow.schema.name,
    String(queueIndex),
    String(index),
    flow.distinguisher,
    timeOf(arrivalMs),
    String(initialSeats),
    String(finalSeats),
    formatDuration(additionalLatencyMs),
    startMs === 0 ? '0001-01-01T00:00:00Z' : timeOf(startMs),
  ];
}

function detailsOf({ holder: { user, info } }: Ticket): Row {
  const version = info.apiGroup === '' ? info.apiVersion : `${info.apiGroup}/${info.apiVersion}`;
  return [user.name, info.verb, info.path, info.namespace, info.name, version, info.resource, info.subresource];
}

const timeOf = (ms: number): string => new Date(performance.timeOrigin + ms).toISOString();

/** `12.00300000ss`, from seat-milliseconds. */
const seatSeconds = (seatMs: number): string => `${(Math.max(0, seatMs) / 1000).toFixed(8)}ss`;

/** As Go's text/tabwriter: columns at least 8 wide, a blank between them, none behind the last. */
function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => row.map((cell, i) => (i === row.length - 1 ? cell : `${cell},`)));
  const widths = cells[0]!.map((_, i) => Math.max(8, ...cells.map((row) => row[i]!.length + 1)));
  return cells.map((row) => `${row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('')}\n`).join('');
}
