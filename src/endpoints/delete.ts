import type { DeleteOptions } from '../registry/store.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { recordDeleteOptions } from './audit.ts';
import { answerEntry, outputForm } from './answer.ts';
import { decodeDeleteOptions } from './decode-body.ts';
import { negotiateInput } from './negotiation.ts';
import { checkDeleteOptions, deleteOptionsFromQuery } from './options.ts';
import { readBytes } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf } from './scope.ts';
import { respondStatus, successStatus } from './status.ts';
import type { ResourceTarget } from './target.ts';
import { nextTurn } from '../util/time-slice.ts';
import { LooseEntry } from './view.ts';

export async function handleDelete(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const options = await readDeleteOptions(request, target);
  const { info } = request;
  const result = await target.store.delete(request, namespaceOf(request, target), nameOf(request), options);
  // Only those who ask for cascading in the old way are told that it is still going on: others never were (handlers/delete.go).
  const code = !result.isGone && options.orphanDependents === false ? 202 : 200;
  if (request.isLarge) await nextTurn();
  if (result.answersWithObject) return answerEntry(request, target, code, form, new LooseEntry(result.object));
  const { name, uid } = result.object.metadata;
  const status = successStatus({ ...(name && { name }), ...(info.apiGroup !== '' && { group: info.apiGroup }), kind: info.resource, ...(uid && { uid }) });
  return respondStatus(request, target.environment, code, form, status);
}

/** From the body where there is one, else from the query. */
export async function readDeleteOptions(request: ServerRequest, target: ResourceTarget): Promise<DeleteOptions> {
  const options = await readOptions(request, target);
  return { ...options, apiVersion: apiVersionOf(target.served.group, target.served.version) };
}

async function readOptions(request: ServerRequest, target: ResourceTarget): Promise<DeleteOptions> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return checkDeleteOptions(deleteOptionsFromQuery(request.query));
  const mediaType = negotiateInput(request.exchange.headers['content-type'], false, target.environment.hasCbor);
  const options = await decodeDeleteOptions({ bytes, mediaType }, target);
  recordDeleteOptions(request, options);
  return checkDeleteOptions(options);
}
