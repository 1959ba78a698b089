import { readFileSync } from 'node:fs';
import { type ControllersOptions, controllerHooks } from '../controllers/controllers.ts';
import { enabledControllers } from '../controllers/names.ts';
import { parseCertificates } from '../serving/certificates/pem.ts';
import { seenType } from '../apis/admissionregistration/seen-type.ts';
import type { ServedType } from '../apis/admissionregistration/type-checking.ts';
import type { DataSchema } from '../cel/data/data-schema.ts';
import { dataSchemaOf } from '../extensions/rules/data-schema-of.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import type { JsonSchema } from '../schema/structural/json-schema.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import type { ObjectStores } from './object-stores.ts';
import { queueMetricsOf } from '../controllers/work-queue-metrics.ts';
import type { CreatedServers } from './servers.ts';
import type { ServingFiles } from './serving-files.ts';

/** What --controllers asks for. Without --enable-garbage-collector nothing is marked for the collector, and it does not run. */
export function enabledControllerHooks(
  { options, worker, registry, client, files, storage, report, now, clock, logger }: Foundation,
  { settings }: ObjectStores,
  servers: CreatedServers,
) {
  // Of several workers, the first one runs them: when it dies, the one that takes its place.
  if (worker && worker.settings.index > 0) return [];
  const names = enabledControllers(options.controllers).filter((name) => name !== 'garbage-collector-controller' || options.enableGarbageCollector);
  const running = registry.family('running_managed_controllers');
  const controllers: ControllersOptions = {
    report,
    now,
    clock,
    onStarted(controller) {
      running.with(controller, 'binnacle').set(1);
      logger.info('Started a controller', { controller });
    },
    onStopped(controller) {
      running.with(controller, 'binnacle').set(0);
      logger.info('Stopped a controller', { controller });
    },
    kindSettings: settings,
    queueMetrics: queueMetricsOf(registry),
    rootCa: () => rootCaOf(options, files),
    servedTypes: () => servedTypes([...servers.kube.versions, ...servers.extensions.versions, ...servers.aggregator.versions]),
  };
  const wholeClient = names.length === 0 ? client : servers.aggregation.withRemoteResources(client);
  // Others may write to the store too, unless it is this process' own.
  return controllerHooks({ client, wholeClient }, names, controllers, storage.engine.isSingleWriter || worker?.settings.storeUrl !== undefined);
}

/** PEM of whom pods are to trust: --root-ca-file, or the authority of --client-ca-file that has signed the serving certificate, or that certificate itself. */
function rootCaOf({ rootCaFile }: CompletedOptions, { certificate, clientCa }: ServingFiles): string {
  if (rootCaFile !== '') return readFileSync(rootCaFile, 'utf8');
  const { certPem } = certificate.current;
  const last = parseCertificates(certPem).at(-1)!;
  const signer = clientCa && parseCertificates(clientCa.current).find((authority) => last.checkIssued(authority) && last.verify(authority.publicKey));
  return signer ? signer.toString() : certPem;
}

/** All kinds that are served now, with what expressions see of them. */
const servedTypes = (versions: Iterable<ApiVersion>): ServedType[] =>
  [...versions].flatMap(({ group, version, resources }) =>
    [...resources].map(([plural, { served }]) => ({ group, version, plural, kind: served.kind, seen: () => seenOf(served.schema) })),
  );

/** A custom resource is seen as its definition has it, with all metadata. */
function seenOf(schema: ObjectSchema): DataSchema {
  if (!schema.custom) return seenType(schema);
  const { properties, ...seen } = dataSchemaOf(schema.custom.schema as JsonSchema);
  const own = ['kind', 'apiVersion', 'metadata'].map((name) => [name, seenType(schema.fields.get(name)!.type)] as const);
  return { ...seen, type: 'object', properties: new Map([...(properties ?? []), ...own]) };
}
