import type { SubresourceCall } from '../registry/definition.ts';
import { type Status, methodNotSupported } from '../util/errors.ts';
import { answerEntry, answerViewed, outputForm } from './answer.ts';
import { toStored } from './conversion.ts';
import { decodeBody } from './decode-body.ts';
import type { OutputForm } from './negotiation.ts';
import { parseCreateOptions } from './options.ts';
import { dedupeOwnerReferences } from './owner-references.ts';
import { readTypedBody } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf, placeInNamespace } from './scope.ts';
import { respondStatus } from './status.ts';
import type { ResourceTarget } from './target.ts';
import { LooseEntry, unconverted, viewOf } from './view.ts';

export async function create(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const form = outputForm(request, target);
  const body = await readTypedBody(request, target);
  const options = parseCreateOptions(request.query);
  const sent = await decodeBody(body, target, options.fieldValidation, (text) => request.warn(text));
  const namespace = namespaceOf(request, target);
  placeInNamespace(sent, namespace);
  if (target.subresource)
    return createSubresource(request, target, form, { namespace, name: nameOf(request), body: sent, dryRun: options.dryRun, context: request });

  dedupeOwnerReferences(sent, (text) => request.warn(text));
  const result = await target.store.create(request, namespace, toStored(target, sent), options);
  return answerEntry(request, target, 201, form, result.entry ?? new LooseEntry(result.object));
}

/** POST to bindings, evictions, tokens: they answer with the object sent, filled in, or with a Status. */
async function createSubresource(request: ServerRequest, target: ResourceTarget, form: OutputForm, call: SubresourceCall): Promise<void> {
  const { info } = request;
  const post = target.subresource?.create;
  // Discovery may offer what this server cannot do yet; it must not fall through to making the object itself.
  if (post === undefined) throw methodNotSupported({ group: info.apiGroup, resource: `${info.resource}/${info.subresource}` }, 'create');
  const answer = await post.call(target.subresource, call);
  if (answer.kind === 'Status') return respondStatus(request, target.environment, 201, form, { code: 201, ...(answer as unknown as Status) });
  return answerViewed(request, unconverted(viewOf(target)), 201, form, new LooseEntry(answer));
}
