/** Values are written as they are; what carries a secret is left out by its name. */
type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** An info line that only shows with `-v=level` or more. */
  verbose(level: number, message: string, fields?: LogFields): void;
  /** What `-v` says, or for a module, `--vmodule`: ask before gathering what a verbose line needs. */
  readonly verbosity: number;
  /** The same log for lines of one module, named as upstream's source file that writes such lines: `httplog`. */
  module(name: string): Logger;
}

export type Severity = 'info' | 'warning' | 'error';
const severities: readonly Severity[] = ['info', 'warning', 'error'];

interface LogEntry {
  severity: Severity;
  level: number;
  message: string;
  fields: LogFields;
  time: Date;
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
  const { format, verbosity, verbosityOf = () => 0, minimumSeverity = 'info', write = writeToStderr, now = () => new Date() } = settings;
  const formatLine = format === 'json' ? jsonLine : textLine;
  const least = severities.indexOf(minimumSeverity);
  const log = (severity: Severity, level: number, message: string, fields: LogFields = {}): void => {
    if (level > verbosity || severities.indexOf(severity) < least) return;
    write(formatLine({ severity, level, message: withoutBearers(message), fields, time: now() }), severity);
  };
  const logger: Logger = {
    verbosity,
    info: (message, fields) => log('info', 0, message, fields),
    warn: (message, fields) => log('warning', 0, message, fields),
    error: (message, fields) => log('error', 0, message, fields),
    verbose: (level, message, fields) => log('info', level, message, fields),
    module(name) {
      const own = verbosityOf(name);
      return own > verbosity ? createLogger({ ...settings, verbosity: own }) : logger;
    },
  };
  return logger;
}

function writeToStderr(line: string): void {
  process.stderr.write(line);
}

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** klog's header: severity, date, time, process; then the message and its fields as key="value". */
function textLine({ severity, message, fields, time }: LogEntry): string {
  const date = pad(time.getMonth() + 1, 2) + pad(time.getDate(), 2);
  const clock = `${pad(time.getHours(), 2)}:${pad(time.getMinutes(), 2)}:${pad(time.getSeconds(), 2)}.${pad(time.getMilliseconds(), 3)}000`;
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${fieldText(key, value)}`);
  return `${severity[0]!.toUpperCase()}${date} ${clock} ${String(process.pid).padStart(7)} binnacle] ${oneLine(message)}${pairs.join('')}\n`;
}

function jsonLine({ severity, level, message, fields, time }: LogEntry): string {
  const safeFields = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, isSecret(key) ? HIDDEN : plain(value)]));
  return `${JSON.stringify({ ts: time.getTime(), ...(severity === 'info' ? { v: level } : { level: severity }), msg: message, ...safeFields })}\n`;
}

const HIDDEN = '<hidden>';
/** Tokens, passwords and keys have no place in a log (CVE-2019-11250, CVE-2020-8565). */
const isSecret = (key: string): boolean => /token|password|secret|authorization|cookie|private/i.test(key);
const withoutBearers = (message: string): string => message.replace(/\b(bearer|basic)\s+[^\s"',]+/gi, `$1 ${HIDDEN}`);

const fieldText = (key: string, value: unknown): string =>
  isSecret(key) ? HIDDEN : typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(plain(value));
const plain = (value: unknown): unknown => (value instanceof Error ? withoutBearers(value.message) : typeof value === 'string' ? withoutBearers(value) : value);

/** What a client sent must not be able to begin a line of its own. */
const oneLine = (message: string): string => message.replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));
