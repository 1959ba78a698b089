import type { UpdateOptions } from '../registry/store.ts';
import { type NextObject, writeThrough } from '../registry/write.ts';
import { apiVersionOf } from '../api/api-object.ts';
import { genericUnsupportedMediaType, notFound } from '../api/errors.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { nextTurn } from '../util/time-slice.ts';
import { answerWritten, outputForm } from './answer.ts';
import { applier } from './apply.ts';
import { withType } from './decode-body.ts';
import { unknownBodyFormat } from './negotiation.ts';
import { parsePatchOptions } from './options.ts';
import { type PatchMechanism, jsonPatch, mergePatch, strategicMergePatch } from './patch-mechanisms.ts';
import { readBytes } from './read-body.ts';
import type { ServerRequest } from './request.ts';
import { registeredSchema, registeredWithScales } from './schemes.ts';
import { checkName, nameOf, namespaceOf, defaultNamespace } from './scope.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';
import { clientObject, LooseEntry, clientViewOf } from './view.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';
const APPLY_PATCH_CBOR = 'application/apply-patch+cbor';

const MECHANISMS: Readonly<Record<string, PatchMechanism>> = {
  [JSON_PATCH]: jsonPatch,
  [MERGE_PATCH]: mergePatch,
  [STRATEGIC_MERGE_PATCH]: strategicMergePatch,
};

/** In the order in which upstream names them; apply is a mechanism of its own kind (`apply.ts`). Strategic merge needs a type that says how its lists merge, which custom resources' do not. */
const PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH];
const CUSTOM_PATCH_TYPES = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];

export async function handlePatch(request: ServerRequest, target: ResourceTarget): Promise<void> {
  const patchType = patchTypeOf(request, target);
  const form = outputForm(request, target);
  const bytes = await readBytes(request);
  const parsed = parsePatchOptions(request.query, MECHANISMS[patchType] === undefined);
  const audited = request.audit?.requestPatch(bytes);
  if (audited) await audited;
  const { subresource } = request.info;
  const apiVersion = apiVersionOf(target.served.group, target.served.version);
  const options: UpdateOptions = { ...parsed, subresource, apiVersion, mayCreate: parsed.isApply, isPatch: true };
  const mechanism = MECHANISMS[patchType];
  const decode =
    mechanism === undefined
      ? await applier(request, target, { bytes, isCbor: patchType === APPLY_PATCH_CBOR }, parsed)
      : patcher(request, target, (before) =>
          mechanism(bytes, {
            before,
            kind: clientKindOf(target),
            registered: (sent) =>
              target.isCustom ? registeredWithScales(sent, target.environment) : registeredSchema(sent, target.served.group, target.environment),
            isCustom: target.isCustom,
            fieldValidation: parsed.fieldValidation,
            warn: (text) => request.warn(text),
            isLarge: request.isLarge === true,
          }),
        );
  const result = await target.store.update(request, namespaceOf(request, target), nameOf(request), decode, options);
  if (request.isLarge) await nextTurn();
  return answerWritten(request, target, result.created ? 201 : 200, form, result.entry ?? new LooseEntry(result.object));
}

/** Types are compared to the letter, as upstream's router does. */
function patchTypeOf(request: ServerRequest, { isCustom, environment: { hasCbor } }: ResourceTarget): string {
  // Custom resources are behind no router.
  if (isCustom && hasCbor) request.mayFailInCbor = true;
  const contentType = contentTypeOf(request);
  const known = knownPatchTypes(isCustom, hasCbor);
  if (!known.includes(contentType)) throw isCustom ? unknownBodyFormat(known) : genericUnsupportedMediaType();
  return contentType;
}

/** Whether upstream's router lets the patch through. */
export const isPatchRouted = (request: ServerRequest, { isCustom, environment: { hasCbor } }: ResourceTarget): boolean =>
  isCustom || knownPatchTypes(isCustom, hasCbor).includes(contentTypeOf(request));

const contentTypeOf = ({ exchange }: ServerRequest): string => (exchange.headers['content-type'] ?? '').split(';', 1)[0]!.trim();

function knownPatchTypes(isCustom: boolean, hasCbor: boolean | undefined): readonly string[] {
  const always = isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
  return hasCbor ? [...always, APPLY_PATCH_CBOR] : always;
}

/** The patch is made against the version in the path, then the result is taken as if it had been PUT. Called anew when another writer came first. */
function patcher(request: ServerRequest, target: ResourceTarget, apply: (before: JsonObject) => ReturnType<PatchMechanism>): NextObject {
  const view = clientViewOf(target);
  const { subresource } = target;
  const before = subresource?.readToWrite ? { ...view, convert: subresource.readToWrite.bind(subresource) } : view;
  const namespace = namespaceOf(request, target);
  const name = nameOf(request);
  return async (current) => {
    if (current === undefined) throw notFound({ group: request.info.apiGroup, resource: request.info.resource }, name);
    const { patched, sentEmpty } = await apply(clientObject(before, new LooseEntry(current)));
    const object = withType(patched, view.kind);
    defaultNamespace(object, namespace);
    checkName(object, name);
    const sent = { object, sentEmpty, served: target.served };
    return subresource?.write ? writeThrough(subresource, current, sent) : sent;
  };
}
