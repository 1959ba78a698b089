import { serverMade } from '../registry/write.ts';
import type { Connector } from '../registry/definition.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { badRequest, genericMethodNotAllowed } from '../api/errors.ts';
import { admissionOf } from './admission.ts';
import { type Offer, negotiateOutput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf } from './scope.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';

/** A log is text, whatever was negotiated; yet a client that asks for nothing but text is refused. */
const LOG_OFFER: Offer = { isResource: true, isCustom: false, hasNoTable: true, mayStream: false, alsoProduces: 'text/plain' };

/** exec, attach, portforward, logs and proxies (apiserver/pkg/endpoints/handlers/rest.go ConnectResource). */
export async function handleConnect(request: ServerRequest, target: ResourceTarget, connector: Connector): Promise<void> {
  const { exchange, info, query } = request;
  const { store, served } = target;
  const path = restOfPath(request);
  if (!connector.methods.includes(exchange.method)) throw genericMethodNotAllowed();
  if (target.environment.hasCbor) request.mayFailInCbor = true;
  const { group, version, kind } = clientKindOf(target);
  // A log is read as its pod is; all else is a connection, which admission is asked about.
  const isConnection = kind !== served.kind;
  if (!isConnection) negotiateOutput(exchange.headers.accept, LOG_OFFER);
  if (isConnection && query.has('dryRun')) throw badRequest('dryRun is not supported');
  const options = connector.options(query, path);
  if (isConnection) {
    const object = { kind, apiVersion: apiVersionOf(group, version), ...options } as unknown as ApiObject;
    const admission = admissionOf(request, target, 'CONNECT', serverMade(object), { dryRun: false, raw: {} });
    await store.admission.mutate(admission);
    await store.admission.validate(admission);
  }
  await connector.open({
    namespace: namespaceOf(request, target),
    name: nameOf(request),
    subresource: info.subresource,
    verb: info.verb,
    options,
    context: request,
    exchange,
    store,
  });
  if (!exchange.isAnswered) exchange.respond(204, {}, '');
}

/** What follows the subresource, with a slash at its start where there is anything, and at its end where the request has one. */
function restOfPath({ info }: ServerRequest): string {
  const rest = info.parts.slice(3).join('/');
  const path = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return info.path.endsWith('/') && !path.endsWith('/') ? `${path}/` : path;
}
