import type { ListResult } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { encodeEntry, encodeList } from './encode.ts';
import { type OutputForm, negotiateOutput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { respond } from './respond.ts';
import { type ResourceTarget, isStoredForm } from './target.ts';
import { type View, viewOf } from './view.ts';

/** The form a resource's answer will have. Verbs ask before they do anything: a client that cannot read the answer gets nothing done. */
export const outputForm = ({ exchange }: ServerRequest, { isCustom }: ResourceTarget, mayStream = false): OutputForm =>
  negotiateOutput(exchange.headers.accept, { isResource: true, isCustom, mayStream });

/** Answers with one stored object. */
export function answerEntry(request: ServerRequest, target: ResourceTarget, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  // The road of most requests: the stored bytes, as they are.
  if (form.mediaType === 'application/json' && form.transform === undefined && isStoredForm(target)) return respond(request, status, form, entry.bytes);
  return answerViewed(request, viewOf(target), status, form, entry);
}

export function answerViewed(request: ServerRequest, view: View, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  return respond(
    request,
    status,
    form,
    encodeEntry(view, form, entry, () => request.query),
  );
}

export function answerList(request: ServerRequest, target: ResourceTarget, form: OutputForm, list: ListResult): void | Promise<void> {
  return respond(
    request,
    200,
    form,
    encodeList(viewOf(target), form, list, () => request.query),
  );
}
