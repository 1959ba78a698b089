import { scopeOf } from '../../endpoints/request-labels.ts';
import { formatDuration } from '../../util/duration.ts';
import { quote } from '../../util/go-quote.ts';
import type { IncomingRequest } from '../server-request.ts';
import type { Filter } from './filter.ts';

const MAX_USER_AGENT_CHARACTERS = 50;

/** Where lines about requests go. */
export interface RequestLog {
  /** A line about one request, with what tells it from others. */
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  /** While somebody wants traces (`--v=2`, `--vmodule=trace=2`): the verbosity of a log may change while the server runs. */
  isTracing(): boolean;
  trace(lines: readonly string[]): void;
}

/** Logs requests that took long, with the parts of them that did, as upstream's traces (k8s.io/utils/trace); and gives requests a log of their own. */
export function withSlowRequests(log: RequestLog, wallClockMs: () => number = Date.now): Filter {
  const warn = log.warn.bind(log);
  const onSlow = (request: IncomingRequest): void => {
    if (log.isTracing()) log.trace(traceOf(request, wallClockMs()));
  };
  return (next) => (request) => {
    request.warningLog = warn;
    request.onSlow = onSlow;
    return next(request);
  };
}

const NAMES: Readonly<Record<string, string>> = {
  get: 'Get',
  list: 'List',
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
};

/** `endMs`: of the wall clock. */
function traceOf(request: IncomingRequest, endMs: number): string[] {
  const { info, exchange, slowParts } = request;
  const durationMs = request.finishedAtMs - request.receivedAtMs;
  const trace = `Trace[${Math.floor(Math.random() * 2 ** 31)}]: `;
  const startMs = endMs - durationMs;
  const name = quote((info.isResourceRequest ? NAMES[info.verb] : undefined) ?? exchange.method);
  const steps = slowParts.map(({ part, durationMs: partMs, endMs: partEndMs }) => {
    const at = new Date(startMs + partEndMs - request.receivedAtMs);
    return `${trace}---${quote(part)} ${Math.floor(partMs)}ms (${clock(at)})`;
  });
  const whole = formatDuration(durationMs);
  return [
    `${trace}${name} ${fieldsOf(request).join(',')} (${day(new Date(startMs))} ${clock(new Date(startMs))}) (total time: ${Math.floor(durationMs)}ms):`,
    ...steps,
    `${trace}[${whole}] [${whole}] END`,
  ];
}

/** Upstream's fields, in its order (apiserver/pkg/endpoints/handlers/trace_util.go). The path is told without its query. */
function fieldsOf({ info, exchange, auditId, userAgent }: IncomingRequest): string[] {
  const agent = userAgent.length > MAX_USER_AGENT_CHARACTERS ? `${userAgent.slice(0, MAX_USER_AGENT_CHARACTERS)}...TRUNCATED` : userAgent;
  const fields = {
    accept: exchange.headers.accept ?? '',
    'audit-id': auditId,
    client: exchange.remoteAddress,
    'api-group': info.apiGroup,
    'api-version': info.apiVersion,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    protocol: `HTTP/${exchange.httpVersion}`,
    resource: info.resource,
    scope: scopeOf(info),
    url: info.path,
    'user-agent': agent,
    verb: exchange.method,
  };
  return Object.entries(fields).map(([key, value]) => `${key}:${value}`);
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const day = (time: Date): string => `${pad(time.getDate())}-${MONTHS[time.getMonth()]}-${time.getFullYear()}`;
const clock = (time: Date): string => `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`;
