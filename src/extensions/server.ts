import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import { schemaOf, schemaOfKind } from '../apis/facts/schemas.ts';
import type { Handler, ServerRequest } from '../endpoints/request.ts';
import type { ResourceClient } from '../client/client.ts';
import type { WebhookRoutes } from '../client/webhook-route.ts';
import type { EndpointEnvironment } from '../endpoints/target.ts';
import type { ApiVersion } from '../registry/api-version.ts';
import { GenericServer } from '../server/generic-server.ts';
import type { InProcessClient } from '../server/in-process-client.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { Stores } from '../server/stores.ts';
import { genericNotFound, notFound } from '../api/errors.ts';
import { ruleMetrics } from './rules/rule-metrics.ts';
import { documentMetrics } from './document-metrics.ts';
import { conversionMetrics } from './conversion/metrics.ts';
import { CustomResources, type CustomResourcesOptions } from './custom-resources.ts';
import { definitionControllers } from './definition-controllers.ts';
import { queueMetricsOf } from '../controllers/work-queue-metrics.ts';
import { deleteInstances } from './deleting-instances.ts';
import type { RecentRules } from './rules/recent-rules.ts';
import { compileRuleTree } from './rules/rule-tree.ts';

export interface ExtensionsOptions {
  environment: EndpointEnvironment;
  /** The extensions' own group: CustomResourceDefinitions. */
  ownVersion: ApiVersion;
  stores: Stores;
  client: InProcessClient;
  /** Where the store of definitions leaves the rules that it has compiled. */
  recentRules: RecentRules;
  metrics: MetricRegistry;
  /** How conversion webhooks are reached. */
  webhookRoutes: WebhookRoutes;
  /** Nobody else defines resources. */
  isSingleWriter: boolean;
  /** Where the definitions are those of another server, at another time. */
  replayed?: ReplayedDefinitions | undefined;
  /** Called with failures that are tried again. */
  report(error: Error): void;
  now: () => Date;
}

export interface ReplayedDefinitions {
  /** Of resources that nobody defined, and objects were recorded of: they are not objects themselves. */
  definitions: readonly CustomResourceDefinition[];
  /** A definition with what can be served of it. */
  asServed(crd: CustomResourceDefinition): CustomResourceDefinition;
}

export interface Extensions {
  server: GenericServer;
  customResources: CustomResources;
  /** Resolves once every definition that is stored is served. */
  synced: Promise<void>;
}

const PARTS: Omit<CustomResourcesOptions['parts'], 'compileRules' | 'onRatcheted'> = {
  metadata: () => schemaOf('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
  scale: () => schemaOfKind('autoscaling', 'v1', 'Scale'),
};

/** The tail of the chain: CustomResourceDefinitions, what is told of them in their status, and the resources that they define. */
export function createExtensions(
  { environment, ownVersion, stores, client, recentRules, metrics, webhookRoutes, isSingleWriter, replayed, report, now }: ExtensionsOptions,
  delegate: Handler,
): Extensions {
  const serveUnknown = (request: ServerRequest, otherwise: Handler): Promise<void> | void =>
    isSingleWriter || !request.info.isResourceRequest || request.info.apiGroup === ownVersion.group
      ? otherwise(request)
      : serveIfDefinedElsewhere(definitions, server, request, otherwise);
  const missing: Handler = (request) => serveUnknown(request, () => serveMissing(server, ownVersion.group, request, delegate));
  const server: GenericServer = new GenericServer('extensions', environment, (request) => serveUnknown(request, delegate), missing);
  server.install(ownVersion);
  const definitions = client.resource<CustomResourceDefinition>(ownVersion.group, 'customresourcedefinitions');
  const { informer } = definitions;
  const ruleObserver = ruleMetrics(metrics);
  const customResources = new CustomResources({
    server,
    stores,
    client,
    parts: { ...PARTS, compileRules: (structure) => compileRuleTree(structure, recentRules, ruleObserver), onRatcheted: ruleObserver.ratcheted },
    observeConversion: conversionMetrics(metrics),
    onDocumentsStale: documentMetrics(metrics),
    webhookRoutes,
    read: (name) => informer.get('', name),
  });
  const asServed = (crd: CustomResourceDefinition): CustomResourceDefinition => replayed?.asServed(crd) ?? crd;
  const sync = (name: string, crd: CustomResourceDefinition | undefined): void => {
    try {
      customResources.sync(name, crd && asServed(crd));
    } catch (error) {
      report(error as Error);
    }
  };
  const follow = async (): Promise<void> => {
    await informer.synced;
    informer.onChange((crd, old) => sync((crd ?? old)!.metadata.name!, crd));
    customResources.syncAll([...informer.list('').map(asServed), ...(replayed?.definitions ?? [])]);
  };
  const synced = follow();
  server.postStartHooks.push(
    { name: 'start-apiextensions-informers', run: () => informer.synced },
    definitionControllers(client, {
      report,
      now,
      queueMetrics: queueMetricsOf(metrics),
      deleteInstances: (crd, signal) => deleteInstances(client, crd, signal),
    }),
    { name: 'crd-informer-synced', run: () => synced },
  );
  return { server, customResources, synced };
}

/** Another server may have been given the definition, and have answered, before it arrives here: what is not known is looked for in the store. */
async function serveIfDefinedElsewhere(
  definitions: ResourceClient<CustomResourceDefinition>,
  server: GenericServer,
  request: ServerRequest,
  otherwise: Handler,
): Promise<void> {
  const { info } = request;
  // What is read from the store so newly has come by the informer too, and is served by now. A store that does not answer changes nothing.
  await definitions.get('', `${info.resource}.${info.apiGroup}`).catch(() => undefined);
  return server.hasResource(info) ? server.handle(request) : otherwise(request);
}

/** A resource that is not there is not this server's, unless only its subresource is missing (…/apiserver/customresource_handler.go). */
function serveMissing(server: GenericServer, ownGroup: string, request: ServerRequest, delegate: Handler): Promise<void> | void {
  const { info } = request;
  if (info.apiGroup === ownGroup) throw genericNotFound();
  if (info.subresource !== '' && server.hasResource({ ...info, subresource: '' })) throw notFound({ group: info.apiGroup, resource: info.resource }, info.name);
  return delegate(request);
}
