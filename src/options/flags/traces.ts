import { flag, flagSet } from './flag.ts';
import { file } from './types.ts';

export const traces = flagSet('traces', {
  'tracing-config-file': flag(file, 'File that says where traces are sent, and of which share of requests.'),
});
