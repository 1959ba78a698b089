import { type NextObject, type SentObject, writeThrough } from '../registry/write.ts';
import type { UpdateOptions } from '../registry/store.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { notFound } from '../api/errors.ts';
import { recordBody } from './audit.ts';
import { answerWritten, outputForm } from './answer.ts';
import { decodeBody } from './decode-body.ts';
import { negotiateInput } from './negotiation.ts';
import { parseUpdateOptions } from './options.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import { readBytes } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { checkName, nameOf, namespaceOf, defaultNamespace } from './scope.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';
import { nextTurn } from '../util/time-slice.ts';
import { LooseEntry } from './view.ts';

export async function handleUpdate(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const bytes = await readBytes(request);
  const parsed = parseUpdateOptions(request.query);
  // A custom resource's scale has a type, and may be sent in protobuf.
  const isUntyped = clientKindOf(target).schema.custom !== undefined;
  const mediaType = negotiateInput(request.exchange.headers['content-type'], isUntyped, target.environment.hasCbor);
  const decode = (warn: (text: string) => void): Promise<SentObject> => decodeBody({ bytes, mediaType }, target, parsed.fieldValidation, warn);
  const warn = (text: string): void => request.warn(text);
  const decoded = await decode(warn);
  if (request.isLarge) await nextTurn();
  const recorded = recordBody(request, target, decoded);
  if (recorded) await recorded;
  const namespace = namespaceOf(request, target);
  const name = nameOf(request);
  const settled = (sent: SentObject): SentObject => {
    const { object } = sent;
    defaultNamespace(object, namespace);
    checkName(object, name);
    dedupeOwnerReferences(object, warn);
    return { object, sentEmpty: sent.sentEmpty, served: target.served };
  };
  const sent = new DecodedBody(settled(decoded), async () => settled(await decode(() => undefined)));
  if (request.isLarge) await nextTurn();

  const { subresource } = request.info;
  const apiVersion = apiVersionOf(target.served.group, target.served.version);
  const options: UpdateOptions = { ...parsed, subresource, apiVersion, mayCreate: true, isApply: false };
  const result = await target.store.update(request, namespace, name, writer(target, sent, name), options);
  if (request.isLarge) await nextTurn();
  return answerWritten(request, target, result.created ? 201 : 200, form, result.entry ?? new LooseEntry(result.object));
}

/** What the client sent, as often as it is asked for: whoever gets it may change it. It is decoded anew after the first time, since mostly there is no second. */
class DecodedBody {
  #first: SentObject | undefined;
  readonly #decodeAgain: () => Promise<SentObject>;

  constructor(first: SentObject, decodeAgain: () => Promise<SentObject>) {
    this.#first = first;
    this.#decodeAgain = decodeAgain;
  }

  take(): SentObject | Promise<SentObject> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#decodeAgain();
  }
}

/** What the store is to write for what the client sent. */
function writer(target: ResourceTarget, sent: DecodedBody, name: string): NextObject {
  const { subresource, store } = target;
  if (subresource?.write === undefined) return () => sent.take();
  return async (current) => {
    if (current === undefined) throw notFound({ group: store.definition.group, resource: store.definition.plural }, name);
    return writeThrough(subresource, current, await sent.take());
  };
}
