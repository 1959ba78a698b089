import type { ReplayedDefinitions } from '../../extensions/server.ts';
import type { CreatedServers } from '../servers.ts';
import type { OpenStorage } from '../storage.ts';

/** What a server serves that shows another one as it was at a moment. */
export interface Replay extends ReplayedDefinitions {
  storage: OpenStorage;
  /** The time there: ages are told by it. */
  now: () => Date;
  /** Said to whoever tries to write. */
  refusal: string;
}

/** Those that wait until everything is loaded. All others make or keep objects, or reach out for other servers. */
const HOOKS_THAT_READ = new Set([
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'storage-object-count-tracker-hook',
  'storage-readiness',
  'start-apiextensions-informers',
  'crd-informer-synced',
  'start-kube-aggregator-informers',
]);

/** Of the servers of a replay, nothing runs that would write: all that there is was recorded. */
export function dropWriters({ kube, extensions, aggregator }: CreatedServers): void {
  for (const server of [kube, extensions, aggregator]) {
    keep(server.postStartHooks, ({ name }) => HOOKS_THAT_READ.has(name));
    server.preShutdownHooks.length = 0;
    // The registration of what is served here, which is one of the hooks.
    keep(server.healthChecks, ({ name }) => name !== 'autoregister-completion');
  }
}

function keep<T>(list: T[], isKept: (item: T) => boolean): void {
  list.splice(0, list.length, ...list.filter(isKept));
}
