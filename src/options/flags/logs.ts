import { flag, flagSet } from './flag.ts';
import { bool, duration, level, quantity, string, verbosityByModule } from './types.ts';

export const logs = flagSet('logs', {
  'log-flush-frequency': flag(duration, 'Time between flushes of info lines, where they are buffered.', { default: 5000 }),
  'log-json-info-buffer-size': flag(quantity, 'Bytes of info lines to buffer, in JSON with split streams.'),
  'log-json-split-stream': flag(bool, 'In JSON, write errors to stderr and the rest to stdout. Needs the LoggingAlphaOptions feature.'),
  'log-text-info-buffer-size': flag(quantity, 'Bytes of info lines to buffer, in text with split streams.'),
  'log-text-split-stream': flag(bool, 'In text, write errors and warnings to stderr and the rest to stdout. Needs the LoggingAlphaOptions feature.'),
  'logging-format': flag(string, 'Form of the log: "text" or "json".', { default: 'text' }),
  v: flag(level, 'How much to log; larger is more. From 4 on, errors come with their stacks.', { short: 'v' }),
  vmodule: flag(
    verbosityByModule,
    'Higher verbosities for some modules, as pattern=N, comma separated: httplog=3 logs requests. Modules: authentication, genericapiserver, healthz, httplog, server.',
  ),
});
