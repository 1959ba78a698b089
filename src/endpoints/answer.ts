import { LARGE_BYTES } from '../registry/request-context.ts';
import type { ListResult } from '../registry/store.ts';
import type { CacheEntry } from '../storage/cache/cache.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { Body } from './body.ts';
import { encodeEntry, encodeList } from './encode.ts';
import { JSON_TYPE, type Offer, type OutputForm, YAML_TYPE, isPretty, negotiateOutput } from './negotiation.ts';
import type { ServerRequest } from './request.ts';
import { respond, transformed } from './respond.ts';
import { type ResourceTarget, isStoredForm } from './target.ts';
import { type ClientView, clientViewOf } from './view.ts';

/** The form a resource's answer will have. Verbs ask before they do anything: a client that cannot read the answer gets nothing done. */
export function outputForm(request: ServerRequest, target: ResourceTarget, mayStream = false): OutputForm {
  const form = negotiateOutput(request.exchange.headers.accept, offerOf(target, mayStream));
  if (target.environment.hasCbor) request.mayFailInCbor = true;
  return form;
}

export const offerOf = ({ store, subresource, isCustom, environment: { hasCbor } }: ResourceTarget, mayStream: boolean): Offer => ({
  isResource: true,
  isCustom,
  mayStream,
  hasCbor,
  // What is only made and answered, as reviews are, has no table either.
  hasNoTable: subresource === undefined ? !store.definition.verbs.includes('get') : subresource.hasNoTable === true || subresource.create !== undefined,
});

/** Answers with one stored object. */
export function answerEntry(request: ServerRequest, target: ResourceTarget, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  // The road of most requests: the stored bytes, as they are.
  if (form.mediaType === 'application/json' && form.transform === undefined && isStoredForm(target))
    return respond(
      request,
      status,
      form,
      transformed(request, () => entry.bytes),
    );
  return answerViewed(request, clientViewOf(target), status, form, entry);
}

/** The same with what was just written. */
export function answerWritten(request: ServerRequest, target: ResourceTarget, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  const { subresource } = target;
  if (!subresource?.readWritten) return answerEntry(request, target, status, form, entry);
  return answerViewed(request, { ...clientViewOf(target), convert: subresource.readWritten.bind(subresource) }, status, form, entry);
}

export function answerViewed(request: ServerRequest, view: ClientView, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  return entry.bytes.length > LARGE_BYTES ? answerLarge(request, view, status, form, entry) : answerEncoded(request, view, status, form, entry);
}

/** Decoding and encoding have a turn each. The entry does not keep what is decoded: it is held here. */
async function answerLarge(request: ServerRequest, view: ClientView, status: number, form: OutputForm, entry: CacheEntry): Promise<void> {
  const decoded = [entry.object()];
  await nextTurn();
  await answerEncoded(request, view, status, form, entry);
  decoded.length = 0;
}

function answerEncoded(request: ServerRequest, view: ClientView, status: number, form: OutputForm, entry: CacheEntry): void | Promise<void> {
  const encodeAs = (wanted: OutputForm): Buffer => encodeEntry(view, wanted, entry, () => request.query);
  return respond(
    request,
    status,
    form,
    transformed(request, () => encodeAs(form)),
    () => encodeAs(asJson(form)),
  );
}

export function answerList(request: ServerRequest, target: ResourceTarget, form: OutputForm, list: ListResult): void | Promise<void> {
  const isRewritten = form.mediaType === YAML_TYPE || (form.mediaType === JSON_TYPE && isPretty(request, form));
  const encodeAs = (wanted: OutputForm): Body => encodeList(clientViewOf(target), wanted, list, () => request.query, isRewritten);
  return respond(
    request,
    200,
    form,
    transformed(request, () => encodeAs(form)),
    () => encodeAs(asJson(form)),
  );
}

const asJson = (form: OutputForm): OutputForm => ({ ...form, mediaType: JSON_TYPE });
