import type { ResourceStore, UpdateOptions } from '../registry/store.ts';
import { clone } from '../schema/clone.ts';
import { type ApiObject, apiVersionOf } from '../util/api-object.ts';
import { notFound } from '../util/errors.ts';
import { recordBody } from './audit.ts';
import { answerEntry, outputForm } from './answer.ts';
import { toStored } from './conversion.ts';
import { decodeBody } from './decode-body.ts';
import { negotiateInput } from './negotiation.ts';
import { parseUpdateOptions } from './options.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import { readBytes } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { checkName, nameOf, namespaceOf, placeInNamespace } from './scope.ts';
import type { ResourceTarget } from './target.ts';
import { LooseEntry } from './view.ts';

export async function update(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const bytes = await readBytes(request);
  const parsed = parseUpdateOptions(request.query);
  const mediaType = negotiateInput(request.exchange.headers['content-type'], target.isCustom, target.environment.hasCbor);
  const sent = await decodeBody({ bytes, mediaType }, target, parsed.fieldValidation, (text) => request.warn(text));
  recordBody(request, target, sent);
  const namespace = namespaceOf(request, target);
  const name = nameOf(request);
  placeInNamespace(sent, namespace);
  checkName(sent, name);
  dedupeOwnerReferences(sent, (text) => request.warn(text));

  const { subresource } = request.info;
  const apiVersion = apiVersionOf(target.served.group, target.served.version);
  const options: UpdateOptions = { ...parsed, subresource, apiVersion, mayCreate: true, isApply: false };
  const result = await target.store.update(request, namespace, name, writer(target, sent, name), options);
  return answerEntry(request, target, result.created ? 201 : 200, form, result.entry ?? new LooseEntry(result.object));
}

/** What the store is to write for what the client sent. Called anew for every attempt, each of which may change what it gets. */
function writer(target: ResourceTarget, sent: ApiObject, name: string): Parameters<ResourceStore['update']>[3] {
  const { subresource, store } = target;
  if (subresource?.write === undefined) {
    const stored = toStored(target, sent);
    const copy = clone(stored);
    let attempts = 0;
    // The first attempt, mostly the only one, gets what was decoded: copies do not know what in it was empty (schema/emptied.ts).
    return () => (attempts++ === 0 ? stored : clone(copy));
  }
  return (current) => {
    if (current === undefined) throw notFound({ group: store.definition.group, resource: store.definition.plural }, name);
    return subresource.write!(current, clone(sent));
  };
}
