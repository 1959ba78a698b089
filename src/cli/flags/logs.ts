import { flag, flagSet } from './flag.ts';
import { bool, duration, level, quantity, string, verbosityByModule } from './types.ts';

const SPLIT = 'splitting the log by severity';

export const logs = flagSet('logs', {
  'log-flush-frequency': flag(duration, 'Time between flushes of the log.', { default: 5000, noEffect: 'every line is written at once' }),
  'log-json-info-buffer-size': flag(quantity, 'Bytes of info lines to buffer, in JSON with split streams.', { later: SPLIT }),
  'log-json-split-stream': flag(bool, 'In JSON, write errors to stderr and the rest to stdout.', { later: SPLIT }),
  'log-text-info-buffer-size': flag(quantity, 'Bytes of info lines to buffer, in text with split streams.', { later: SPLIT }),
  'log-text-split-stream': flag(bool, 'In text, write errors to stderr and the rest to stdout.', { later: SPLIT }),
  'logging-format': flag(string, 'Form of the log: "text" or "json".', { default: 'text' }),
  v: flag(level, 'How much to log; larger is more. From 4 on, errors come with their stacks.', { short: 'v' }),
  vmodule: flag(verbosityByModule, 'Other verbosities for some source files, as pattern=N, comma separated.', { later: 'verbosity by file' }),
});
