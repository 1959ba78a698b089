import { recordOwnership } from '../registry/field-ownership.ts';
import type { WriteOptions } from '../registry/store.ts';
import type { SentObject } from '../registry/write.ts';
import { normalize } from '../schema/normalize.ts';
import { type ApiObject, apiVersionOf } from '../api/api-object.ts';
import { type Status, methodNotSupported } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { nextTurn } from '../util/time-slice.ts';
import { admissionOf } from './admission.ts';
import { recordBody } from './audit.ts';
import { answerEntry, answerViewed, outputForm } from './answer.ts';
import { decodeBody } from './decode-body.ts';
import type { OutputForm } from './negotiation.ts';
import { parseCreateOptions } from './options.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import { readTypedBody } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf, defaultNamespace } from './scope.ts';
import { respondStatus } from './status.ts';
import type { ResourceTarget } from './target.ts';
import { LooseEntry, unconverted, clientViewOf } from './view.ts';

export async function handleCreate(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const body = await readTypedBody(request, target);
  const options = parseCreateOptions(request.query);
  const sent = await decodeBody(body, target, options.fieldValidation, (text) => request.warn(text));
  if (request.isLarge) await nextTurn();
  const recorded = recordBody(request, target, sent);
  if (recorded) await recorded;
  const namespace = namespaceOf(request, target);
  defaultNamespace(sent.object, namespace);
  if (target.subresource) return createSubresource(request, target, form, sent, options);

  dedupeOwnerReferences(sent.object, (text) => request.warn(text));
  const apiVersion = apiVersionOf(target.served.group, target.served.version);
  if (request.isLarge) await nextTurn();
  const { object, sentEmpty } = sent;
  const result = await target.store.create(request, namespace, () => ({ object, sentEmpty, served: target.served }), { ...options, apiVersion });
  if (request.isLarge) await nextTurn();
  if (isStatus(result.object)) return respondStatus(request, target.environment, 201, form, withCode(result.object));
  return answerEntry(request, target, 201, form, result.entry ?? new LooseEntry(result.object));
}

const isStatus = (answer: ApiObject | Status): answer is Status => answer.kind === 'Status' && answer.apiVersion === 'v1';
/** Where the subresource says none of its own. */
const withCode = (status: Status): Status => ({ ...status, code: status.code ?? 201 });

/** POST to bindings, evictions, tokens: they answer with the object sent, filled in, or with a Status. */
async function createSubresource(request: ServerRequest, target: ResourceTarget, form: OutputForm, sent: SentObject, options: WriteOptions): Promise<void> {
  const { info } = request;
  const { dryRun, raw } = options;
  const { store, subresource } = target;
  const { object: body } = sent;
  // Discovery may offer what this server cannot do yet; it must not fall through to making the object itself.
  if (subresource?.create === undefined) throw methodNotSupported({ group: info.apiGroup, resource: `${info.resource}/${info.subresource}` }, 'create');
  subresource.default?.(body);
  await recordOwnership(
    { definition: store.definition, context: request, options: { ...options, subresource: info.subresource }, now: target.environment.now() },
    sent,
    undefined,
  );
  const admission = admissionOf(request, target, 'CREATE', sent, { dryRun, raw });
  await store.admission.mutate(admission);
  const admit = async (): Promise<void> => store.admission.validate(admission);
  const answer = await subresource.create({ namespace: namespaceOf(request, target), name: nameOf(request), body, dryRun, context: request, store, admit });
  if (isStatus(answer)) return respondStatus(request, target.environment, 201, form, withCode(answer));
  const canonical = normalize(subresource.schema, answer as unknown as JsonObject) as unknown as ApiObject;
  return answerViewed(request, unconverted(clientViewOf(target)), 201, form, new LooseEntry(canonical));
}
