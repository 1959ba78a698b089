import { badRequest, genericMethodNotAllowed, genericNotFound, methodNotSupported, tooManyRequests } from '../api/errors.ts';
import { offerOf } from './answer.ts';
import { handleConnect } from './connect.ts';
import { handleCreate } from './create.ts';
import { handleDelete } from './delete.ts';
import { handleDeleteCollection } from './deletecollection.ts';
import { handleGet } from './get.ts';
import { handleList } from './list.ts';
import { isRouted as isAccepted } from './negotiation.ts';
import { handlePatch, isPatchRouted } from './patch.ts';
import type { ServerRequest } from './request.ts';
import type { ResourceTarget } from './target.ts';
import { handleUpdate } from './update.ts';
import { handleWatch } from './watch.ts';

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

const HANDLERS: Record<Verb, (request: ServerRequest, target: ResourceTarget) => void | Promise<void>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

/** What the methods mean on a collection, on an object in it, and on a subresource. `watch` stands in for a GET that asks for it. */
const COLLECTION_VERBS: Readonly<Record<string, Verb>> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' };
const OBJECT_VERBS: Readonly<Record<string, Verb>> = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const SUBRESOURCE_VERBS: Readonly<Record<string, Verb>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** storage/cacher/ready.go: of a resource that took longer to be read at the start than --storage-initialization-timeout says. */
const INITIALIZING = 'storage is (re)initializing';

/** Answers a request for a resource, or throws what it is to be answered with. Synchronous where nothing has to be waited for. */
export function serveResource(request: ServerRequest, target: ResourceTarget): void | Promise<void> {
  request.route = target.isCustom ? 'custom' : 'built-in';
  if (target.subresource?.connect) return handleConnect(request, target, target.subresource.connect);
  // Custom resources have no routes: their handler tells it before it looks at the verb (apiextensions-apiserver customresource_handler.go).
  if (target.isCustom) tellOfDeprecation(request, target);
  else if (target.store.isLoaded === false) throw tooManyRequests(INITIALIZING, 1);
  const verb = verbOf(request, target);
  if (!target.isCustom && target.served.deprecation !== undefined && isRouted(verb, request, target)) tellOfDeprecation(request, target);
  return HANDLERS[verb](request, target);
}

/** What upstream's router refuses, no handler hears of. */
const isRouted = (verb: Verb, request: ServerRequest, target: ResourceTarget): boolean =>
  isAccepted(request.exchange.headers.accept, offerOf(target, verb === 'list' || verb === 'watch')) && (verb !== 'patch' || isPatchRouted(request, target));

const REMOVED = /unavailable in v(\d+\.\d+)\+/;

/** To the client, and to whoever reads the audit log (apiserver/pkg/endpoints/metrics). */
export function tellOfDeprecation(request: ServerRequest, { served: { deprecation }, environment }: ResourceTarget): void {
  if (deprecation === undefined) return;
  request.warn(deprecation);
  request.annotateAudit('k8s.io/deprecated', 'true');
  const removed = REMOVED.exec(deprecation)?.[1];
  if (removed !== undefined) request.annotateAudit('k8s.io/removed-release', removed);
  environment.metrics?.deprecatedRequest(request.info, removed ?? '');
}

function verbOf({ info, exchange }: ServerRequest, { store, subresource, isCustom }: ResourceTarget): Verb {
  const { definition } = store;
  const depth = info.parts.length;
  const table = depth === 1 ? COLLECTION_VERBS : depth === 2 ? OBJECT_VERBS : SUBRESOURCE_VERBS;
  // Upstream has no routes of custom resources: their handler goes by the request's verb, and HEAD reads.
  const method = isCustom && exchange.method === 'HEAD' ? 'GET' : exchange.method;
  const verb = Object.hasOwn(table, method) ? table[method]! : undefined;
  const offered = subresource?.verbs ?? definition.verbs;
  // All namespaces at once can be read, and nothing else.
  const isAcrossNamespaces = definition.namespaced && info.namespace === '';
  // What cannot be listed has no path outside of namespaces.
  if (isAcrossNamespaces && !definition.verbs.includes('list')) throw genericNotFound();
  // Of a custom resource, an update needs no route to be refused.
  if (isCustom && depth === 1 && (method === 'PUT' || method === 'PATCH') && !isAcrossNamespaces) throw badRequest('name must be provided');
  if (verb === undefined || (isAcrossNamespaces && verb !== 'list') || !offered.includes(verb)) {
    throw isCustom ? methodNotSupported({ group: info.apiGroup, resource: info.resource }, info.verb) : genericMethodNotAllowed();
  }
  if (info.verb !== 'watch') return verb;
  // Paths below `/watch/` were authorized as watches, whatever the method.
  if (exchange.method !== 'GET') throw genericMethodNotAllowed();
  if (!offered.includes('watch')) throw methodNotSupported({ group: info.apiGroup, resource: info.resource }, 'watch');
  return 'watch';
}
