import { clone } from '../schema/clone.ts';
import { type SentObject, defaultInTurns, defaultObject } from '../registry/write.ts';
import { normalize, normalizeInSlices } from '../schema/normalize.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { DeleteOptionsObject } from './options.ts';
import type { AuditRecorder, ServerRequest } from './request.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';

/** Records the object that a body holds: in the version it came in, with that version's defaults, which upstream's decoder fills in. */
export function recordBody(request: ServerRequest, target: ResourceTarget, sent: SentObject): void | Promise<void> {
  const { audit } = request;
  if (request.isLarge && audit?.keepsRequest) return recordLargeBody(audit, target, sent);
  audit?.requestObject(sent.object.metadata, () => {
    const shown = clone(sent.object);
    fillDefaults(target, shown, sent);
    return normalize(clientKindOf(target).schema, shown as unknown as JsonObject);
  });
}

function fillDefaults(target: ResourceTarget, object: ApiObject, { sentEmpty }: SentObject): void {
  if (isDefaulted(target)) defaultObject({ object, sentEmpty, served: target.served });
}

const isDefaulted = ({ served, subresource }: ResourceTarget): boolean => subresource === undefined || subresource.kind === served.kind;

/** The same, with a turn for each of its steps. */
async function recordLargeBody(audit: AuditRecorder, target: ResourceTarget, sent: SentObject): Promise<void> {
  const shown = clone(sent.object);
  await nextTurn();
  if (isDefaulted(target)) await defaultInTurns({ object: shown, sentEmpty: sent.sentEmpty, served: target.served });
  await nextTurn();
  const object = await normalizeInSlices(clientKindOf(target).schema, shown as unknown as JsonObject);
  await nextTurn();
  audit.requestObject(sent.object.metadata, () => object);
  await nextTurn();
}

/** Upstream shows them in their internal version, whatever the client sent. */
export const recordDeleteOptions = (request: ServerRequest, options: DeleteOptionsObject): void =>
  request.audit?.requestObject(undefined, () => ({ kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal', ...(options as JsonObject) }));
