import { fileURLToPath } from 'node:url';
import { Console } from '../console/console.ts';
import type { ActivitySources } from '../console/activity.ts';
import type { ExplainOptions } from '../console/explain.ts';
import type { Rehearse } from '../server/rehearsal.ts';
import type { Handler } from '../endpoints/request.ts';
import type { StandardFilterOptions } from '../server/filters/standard-filters.ts';
import { LocalEngine } from '../storage/engines/local-engine.ts';
import type { Foundation } from './foundation.ts';
import type { FrontParts } from './front-options.ts';
import { Provided } from './provided.ts';

/** Built beside the bundle. */
const builtFolder = (): string => fileURLToPath(new URL('./console/', import.meta.url));

/** The console, and what it has to do with the rest of the server. */
export interface OpenConsole extends Pick<Console, 'observe' | 'close' | 'createCode' | 'authenticator' | 'filter'> {
  /** What it serves behind the filters. */
  paths(parts: FrontParts, filters: StandardFilterOptions): Map<string, Handler>;
  /** To be told how requests are rehearsed. */
  provide(rehearse: Rehearse): void;
}

/** `--console`. Its files are read when they are first asked for. */
export function openConsole({ options, clock, securePort }: Foundation, folder = builtFolder()): OpenConsole {
  const rehearse = new Provided<Rehearse>('rehearsal');
  const console = new Console({
    folder,
    clock,
    port: () => securePort.value,
    server: () => ({ version: options.kubernetesVersion, storage: options.storageBackend, hasHistory: options.historyBounds !== undefined }),
  });
  return {
    observe: console.observe,
    authenticator: (inner) => console.authenticator(inner),
    filter: (inner, auditing) => console.filter(inner, auditing),
    createCode: (certificatePem) => console.createCode(certificatePem),
    paths: (parts, filters) => console.paths(activitySources(parts, filters), { rehearse: () => rehearse.value, ...explainSources(parts) }),
    provide: (given) => rehearse.provide(given),
    close: () => console.close(),
  };
}

/** Whom `/console/explain` asks. */
const explainSources = ({ authorization, servers }: FrontParts): Omit<ExplainOptions, 'rehearse'> => ({
  authorizer: authorization.authorizer,
  opinions: (attributes) => authorization.explain(attributes),
  isServedElsewhere: (group, version) => servers.remoteApis.versions().some((one) => one.group === group && one.version === version),
});

/** What the server is doing, from what there is. */
function activitySources({ foundation, objects, flowControl }: FrontParts, filters: StandardFilterOptions): Omit<ActivitySources, 'recorded'> {
  const { options, registry, storage } = foundation;
  const { engine } = storage;
  return {
    registry,
    backend: options.storageBackend,
    storeSizeBytes: () => (engine instanceof LocalEngine ? engine.statistics()?.sizeBytes : undefined),
    objects: () => objects.stores.sizes(),
    inFlight: () => ({ readOnly: filters.metrics.readOnlyInFlight.read(), mutating: filters.metrics.mutatingInFlight.read() }),
    watches: () => filters.watches.list(),
    priorityLevels: () =>
      (flowControl?.levels ?? []).map(({ name, queues, currentSeats }) => ({
        name,
        seats: queues.seatsInUse,
        limit: currentSeats,
        queued: queues.waiting,
        executing: queues.executing.size,
        rejected: queues.rejected,
      })),
  };
}
