import { parseQuantity, quantityAt } from '../api/quantity.ts';
import type { Output } from './command.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { type Logger, type Severity, createLogger } from '../compose/logger.ts';

interface OpenLogger {
  logger: Logger;
  /** Writes what is still held back. */
  close(): void;
}

type LogOptions = Pick<
  CompletedOptions,
  'loggingFormat' | 'logFlushFrequencyMs' | 'v' | 'vmodule' | `log${'Text' | 'Json'}SplitStream` | `log${'Text' | 'Json'}InfoBufferSize`
>;

/** The log that the options ask for: on stderr, or with --log-*-split-stream, what is no error on stdout. */
export function openLogger(options: LogOptions, output: Output, minimumSeverity: Severity = 'info'): OpenLogger {
  const format = options.loggingFormat === 'json' ? 'json' : 'text';
  const settings = { format, verbosity: options.v, verbosityOf: verbosityByModule(options.vmodule), minimumSeverity } as const;
  const isSplit = format === 'json' ? options.logJsonSplitStream : options.logTextSplitStream;
  if (!isSplit) return { logger: createLogger({ ...settings, write: output.stderr }), close: () => {} };
  const info = bufferedWriter(output.stdout, bufferBytes(format === 'json' ? options.logJsonInfoBufferSize : options.logTextInfoBufferSize));
  // Upstream's JSON log knows no warnings: they are lines like any other.
  const isInfo = (severity: Severity): boolean => severity === 'info' || (severity === 'warning' && format === 'json');
  const timer = setInterval(() => info.flush(), options.logFlushFrequencyMs).unref();
  return {
    logger: createLogger({ ...settings, write: (line, severity) => (isInfo(severity) ? info.write(line) : output.stderr(line)) }),
    close() {
      clearInterval(timer);
      info.flush();
    },
  };
}

const MAX_BUFFER_BYTES = 2 ** 31;
const bufferBytes = (text: string): number => Math.min(Number(quantityAt(parseQuantity(text), 0)), MAX_BUFFER_BYTES);

interface BufferedWriter {
  write(line: string): void;
  flush(): void;
}

/** Holds lines back until they fill so many bytes. A line is never split; one that is larger than the buffer is written at once. */
function bufferedWriter(write: (text: string) => void, sizeBytes: number): BufferedWriter {
  let lines: string[] = [];
  let heldBytes = 0;
  const flush = (): void => {
    if (lines.length === 0) return;
    write(lines.join(''));
    lines = [];
    heldBytes = 0;
  };
  return {
    flush,
    write(line) {
      const lineBytes = Buffer.byteLength(line);
      if (heldBytes + lineBytes > sizeBytes) flush();
      if (lineBytes > sizeBytes) return write(line);
      lines.push(line);
      heldBytes += lineBytes;
    },
  };
}

/** --vmodule: `pattern=N,…`, of which the first that fits a module's name counts, as klog has it. What it answers where none fits is 0. */
function verbosityByModule(flag: string): (module: string) => number {
  const rules = flag
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [pattern, level] = part.split('=') as [string, string];
      return { matches: globMatcher(pattern), level: Number(level) };
    });
  return (module) => rules.find(({ matches }) => matches(module))?.level ?? 0;
}

/** Go's filepath.Match, for names that have no slash in them. A pattern that is none fits nothing. */
function globMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replace(/\[\^?(?:\\.|[^\]\\])+\]|\\.|[^[\\]|[[\\]/gs, (part) => {
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    return part.length > 1 ? part : part.replace(/[.+^${}()|\\[\]]/, String.raw`\$&`);
  });
  try {
    const expression = new RegExp(`^${source}$`, 's');
    return (name) => expression.test(name);
  } catch {
    return () => false;
  }
}
