import { flag, flagSet } from './flag.ts';
import { bool, string } from './types.ts';

export const features = flagSet('features', {
  'contention-profiling': flag(bool, 'Profile blocking, where profiling is on.', { noEffect: 'JavaScript has no locks to profile' }),
  'debug-socket-path': flag(string, 'Unix socket on which to serve profiles without authentication.'),
  'enable-priority-and-fairness': flag(bool, 'Queue requests by priority and share them fairly, in place of the plain limits on requests in flight.', {
    default: true,
  }),
  profiling: flag(bool, 'Serve profiles at /debug/pprof/.', { default: true }),
});
