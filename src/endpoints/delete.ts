import type { DeleteOptions } from '../registry/store.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { resourceAttributes } from '../api/authorization.ts';
import { forbidden, internalError } from '../api/errors.ts';
import { recordDeleteOptions } from './audit.ts';
import { answerEntry, outputForm } from './answer.ts';
import { decodeDeleteOptions } from './decode-body.ts';
import { type OutputForm, negotiateInput } from './negotiation.ts';
import { type DeleteOptionsObject, UNSAFE_OPTION, checkDeleteOptions, deleteOptionsFromQuery } from './options.ts';
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
  if (options.ignoresReadErrors) return deleteUnread(request, target, form);
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

/** The object can not be read, and is deleted for that reason: whoever may do that, which is more than to delete. */
async function deleteUnread(request: ServerRequest, target: ResourceTarget, form: OutputForm): Promise<void> {
  const { store, environment, served } = target;
  const [namespace, name] = [namespaceOf(request, target), nameOf(request)];
  request.annotateAudit('apiserver.k8s.io/unsafe-delete-ignore-read-error', '');
  if (!store.deleteCorrupt) throw internalError(`no unsafe deleter provided, can not honor ${UNSAFE_OPTION}`);
  await authorizeUnsafe(request, target, namespace, name);
  await store.deleteCorrupt(request, namespace, name);
  return respondStatus(request, environment, 200, form, { ...successStatus({ name, kind: served.kind }), code: 200 });
}

async function authorizeUnsafe(request: ServerRequest, { environment, served }: ResourceTarget, namespace: string, name: string): Promise<void> {
  const { apiGroup, resource, subresource } = request.info;
  const refused = (why: string): Error => forbidden({ group: apiGroup, resource }, name, why);
  if (subresource !== '') throw refused(`${UNSAFE_OPTION} delete option is not allowed on a subresource or non-resource request`);
  const verb = 'unsafe-delete-ignore-read-errors';
  const asked = resourceAttributes({ user: request.user, verb, apiGroup, apiVersion: served.version, resource, namespace, name });
  const { decision, reason, error } = await environment.unsafeDeletes!.authorize(asked);
  if (decision === 'allow') return;
  throw refused(error === undefined ? `not permitted to do "${verb}", reason: ${reason}` : `error while checking permission for "${verb}", ${error}`);
}

/** Upstream drops the option while its gate is off. */
function withoutUnsafe({ [UNSAFE_OPTION]: unsafe, ...options }: DeleteOptionsObject, { environment }: ResourceTarget): DeleteOptionsObject {
  return environment.unsafeDeletes && unsafe !== undefined ? { ...options, [UNSAFE_OPTION]: unsafe } : options;
}

/** From the body where there is one, else from the query. */
export async function readDeleteOptions(request: ServerRequest, target: ResourceTarget): Promise<DeleteOptions> {
  const options = await readOptions(request, target);
  return { ...options, apiVersion: apiVersionOf(target.served.group, target.served.version) };
}

async function readOptions(request: ServerRequest, target: ResourceTarget): Promise<DeleteOptions> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return checkDeleteOptions(withoutUnsafe(deleteOptionsFromQuery(request.query), target));
  const mediaType = negotiateInput(request.exchange.headers['content-type'], false, target.environment.hasCbor);
  const options = withoutUnsafe(await decodeDeleteOptions({ bytes, mediaType }, target), target);
  recordDeleteOptions(request, options);
  return checkDeleteOptions(options);
}
