import { LogRate } from './log-rate.ts';

/** Values are written as they are; what carries a secret is left out by its name. */
type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** An info line that only shows with `-v=level` or more. */
  verbose(level: number, message: string, fields?: LogFields): void;
  /** A verbose line that goes on in further ones, as upstream's traces do: they have no header of their own. In JSON, one message. */
  verboseLines(level: number, lines: readonly string[]): void;
  /** What `-v` says, or for a module, `--vmodule` where that is more: ask before gathering what a verbose line needs. Setting it sets `-v` for all modules. */
  verbosity: number;
  /** The same log for lines of one module, named as upstream's source file that writes such lines: `httplog`. */
  module(name: string): Logger;
}

export type Severity = 'info' | 'warning' | 'error';
const severities: readonly Severity[] = ['info', 'warning', 'error'];

interface LogEntry {
  severity: Severity;
  level: number;
  message: string;
  /** Lines behind the first. */
  more?: readonly string[];
  fields: LogFields;
  time: Date;
  /** Undefined for lines that are no module's. */
  module: string | undefined;
}

export interface LoggerSettings {
  format: 'text' | 'json';
  verbosity: number;
  /** The verbosity of a module where it is higher: see open-logger.ts. */
  verbosityOf?: (module: string) => number;
  /** Lines below it are not written. */
  minimumSeverity?: Severity;
  write?: (line: string, severity: Severity) => void;
  now?: () => Date;
}

export function createLogger(settings: LoggerSettings): Logger {
  const { format, verbosityOf = () => 0, minimumSeverity = 'info', write = writeToStderr, now = () => new Date() } = settings;
  const formatLine = format === 'json' ? jsonLine : textLine;
  const least = severities.indexOf(minimumSeverity);
  const shared = { verbosity: settings.verbosity };
  const rate = new LogRate(now);

  const loggerOf = (module: string | undefined, own: number): Logger => {
    const put = (severity: Severity, level: number, message: string, fields: LogFields, more?: readonly string[]): void =>
      write(formatLine({ severity, level, message: safeText(message), fields, time: now(), module, ...(more && { more }) }), severity);
    const isShown = (severity: Severity, level: number): boolean => level <= Math.max(own, shared.verbosity) && severities.indexOf(severity) >= least;
    const log = (severity: Severity, message: string, fields: LogFields = {}): void => {
      if (!isShown(severity, 0)) return;
      const leftOut = rate.take(message);
      if (leftOut === undefined) return;
      if (leftOut > 0) put(severity, 0, 'Lines were left out of the log, since there were too many alike', { message, count: leftOut });
      put(severity, 0, message, fields);
    };
    return {
      info: (message, fields) => log('info', message, fields),
      warn: (message, fields) => log('warning', message, fields),
      error: (message, fields) => log('error', message, fields),
      // Whoever asks for them wants all of them.
      verbose: (level, message, fields = {}) => isShown('info', level) && put('info', level, message, fields),
      verboseLines: (level, [first = '', ...more]) => isShown('info', level) && put('info', level, first, {}, more),
      module: (name) => loggerOf(name, verbosityOf(name)),
      get verbosity() {
        return Math.max(own, shared.verbosity);
      },
      set verbosity(level) {
        shared.verbosity = level;
      },
    };
  };
  return loggerOf(undefined, 0);
}

function writeToStderr(line: string): void {
  process.stderr.write(line);
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** klog's header: severity, date, time, process; then the message and its fields as key="value". */
function textLine({ severity, message, fields, time, module = 'binnacle', more = [] }: LogEntry): string {
  const date = pad(time.getMonth() + 1, 2) + pad(time.getDate(), 2);
  const clock = `${pad(time.getHours(), 2)}:${pad(time.getMinutes(), 2)}:${pad(time.getSeconds(), 2)}.${pad(time.getMilliseconds(), 3)}000`;
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(key, value)}`);
  return `${severity[0]!.toUpperCase()}${date} ${clock} ${String(process.pid).padStart(7)} ${module}] ${[message, ...more].map(oneLine).join('\n')}${pairs.join('')}\n`;
}

function jsonLine({ severity, level, message, fields, time, module, more = [] }: LogEntry): string {
  const safeFields = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, isSecret(key) ? HIDDEN : plain(value)]));
  const about = severity === 'info' ? { v: level } : { level: severity };
  return `${JSON.stringify({ ts: time.getTime(), ...(module && { caller: module }), ...about, msg: [message, ...more].join('\n'), ...safeFields })}\n`;
}

const HIDDEN = '<hidden>';
/** Tokens, passwords and keys have no place in a log (CVE-2019-11250, CVE-2020-8565). */
const isSecret = (key: string): boolean => /token|password|secret|authorization|cookie|private/i.test(key);
const withoutBearers = (message: string): string => message.replace(/\b(bearer|basic)\s+[^\s"',]+/gi, `$1 ${HIDDEN}`);

const fieldText = (key: string, value: unknown): string =>
  isSecret(key) ? HIDDEN : typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(plain(value));
const plain = (value: unknown): unknown => (value instanceof Error ? safeText(value.message) : typeof value === 'string' ? safeText(value) : value);

/** Errors repeat what a client sent, up to a megabyte: fifty such lines a second (LogRate) would fill a disk within the hour. */
const MAX_TEXT_CHARACTERS = 10_000;

const shortened = (text: string): string =>
  text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, MAX_TEXT_CHARACTERS)}… (${text.length - MAX_TEXT_CHARACTERS} more characters)`;
const safeText = (text: string): string => withoutBearers(shortened(text));

/** What a client sent must not be able to begin a line of its own. */
const oneLine = (message: string): string => message.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
