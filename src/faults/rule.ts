/** Which requests a rule is about: those that have one of the named values of every field that is given. Without any, all requests for resources. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  verbs?: readonly string[];
  /** `pods`, `pods/status`, `deployments.apps`, `widgets.example.com`. */
  resources?: readonly string[];
  namespaces?: readonly string[];
  names?: readonly string[];
  users?: readonly string[];
}

/** What happens to a request, and to which. A rule has one of `error`, `reset`, `read` and `watch`, or `delay` alone; `delay` may stand beside each of them. */
export interface FaultRule {
  /** By which the record and the log name it. */
  name?: string;
  match?: FaultMatch;
  /** Milliseconds that the request waits first. */
  delay?: number;
  /** Refuse the request with this status. */
  error?: 409 | 410 | 429 | 500 | 503 | 504;
  /** With `error`: the Retry-After header, in seconds. */
  retryAfter?: number;
  /** Close the connection without an answer: before the request is done, or after. */
  reset?: 'before' | 'after';
  /**
   * Reads that take what is at hand (a GET or LIST with `resourceVersion=0`) are answered as of when the rule was added, as by a server whose cache lags
   * behind; one of a file, as of the first request that met it. Where the store no longer has that state, and for all other reads, nothing is changed.
   */
  read?: 'stale';
  /**
   * A watch ends as if its time were over, expires (410, so that the client lists anew), or goes silent while its connection stays open; or each of its events
   * comes twice, or comes `lateBy` milliseconds late.
   */
  watch?: (typeof WATCH_FAULTS)[number];
  /** With `watch`: after so many events. Default: 0. */
  afterEvents?: number;
  /** With `watch: 'late'`: milliseconds. Default: 1,000. */
  lateBy?: number;
  /** How often it happens. Default: until it is removed. */
  times?: number;
  /** How likely it is for each request that matches, from 0 to 1. Default: 1. */
  probability?: number;
  /** What decides the draws of `probability`; the same seed draws the same. Default: 1. */
  seed?: number;
}

const MAX_LISTED = 1_000;
const LIST_FIELDS = ['verbs', 'resources', 'namespaces', 'names', 'users'] as const;
const CODES = [409, 410, 429, 500, 503, 504];
const WATCH_FAULTS = ['end', 'expire', 'silence', 'duplicate', 'late'] as const;
const FIELDS = ['name', 'match', 'delay', 'error', 'retryAfter', 'reset', 'read', 'watch', 'afterEvents', 'lateBy', 'times', 'probability', 'seed'];

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with a rule, in the words of its fields; undefined where nothing is. Rules of files and of programs without types are checked by this. */
export function faultRuleError(rule: unknown): string | undefined {
  if (!isFields(rule)) return 'a rule must be an object';
  const unknown = Object.keys(rule).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `a rule has no field ${JSON.stringify(unknown)}`;
  return [...problems(rule), ...matchProblems(rule['match'])][0];
}

function* problems(rule: Fields): Generator<string> {
  const { error, reset, read, watch, delay, name, probability } = rule;
  if (name !== undefined && typeof name !== 'string') yield 'name must be a string';
  if (error !== undefined && !CODES.includes(error as number)) yield `error must be one of ${CODES.join(', ')}`;
  if (reset !== undefined && reset !== 'before' && reset !== 'after') yield 'reset must be before or after';
  if (read !== undefined && read !== 'stale') yield 'read must be stale';
  if (watch !== undefined && !WATCH_FAULTS.some((fault) => fault === watch)) yield 'watch must be end, expire, silence, duplicate or late';
  const effects = [error, reset, read, watch].filter((effect) => effect !== undefined).length;
  if (effects > 1) yield 'a rule has one of error, reset, read and watch';
  if (effects === 0 && delay === undefined) yield 'a rule must have error, reset, read, watch or delay';
  for (const field of ['delay', 'retryAfter', 'afterEvents', 'lateBy', 'times', 'seed']) {
    if (rule[field] !== undefined && !isCount(rule[field])) yield `${field} must be a whole number, and not negative`;
  }
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1)) yield 'probability must be from 0 to 1';
}

function* matchProblems(match: unknown): Generator<string> {
  if (match === undefined) return;
  if (!isFields(match)) return void (yield 'match must be an object');
  for (const [field, values] of Object.entries(match)) {
    if (!LIST_FIELDS.includes(field as (typeof LIST_FIELDS)[number])) yield `match has no field ${JSON.stringify(field)}`;
    else if (!Array.isArray(values) || values.length > MAX_LISTED || !values.every((value) => typeof value === 'string')) {
      yield `match.${field} must be a list of at most ${MAX_LISTED} strings`;
    }
  }
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
/** Timers of Node take no more milliseconds. */
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
