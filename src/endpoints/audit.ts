import { clone } from '../schema/clone.ts';
import { normalize } from '../schema/normalize.ts';
import type { ApiObject } from '../util/api-object.ts';
import type { JsonObject } from '../util/json-types.ts';
import type { DeleteOptionsObject } from './options.ts';
import type { ServerRequest } from './request.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';

/** Records the object that a body holds: in the version it came in, with that version's defaults, which upstream's decoder fills in. */
export function recordBody(request: ServerRequest, target: ResourceTarget, sent: ApiObject): void {
  request.audit?.requestObject(sent.metadata, () => {
    const { served, subresource } = target;
    const shown = clone(sent);
    if (subresource === undefined || subresource.kind === served.kind) served.default?.(shown);
    return normalize(clientKindOf(target).schema, shown as unknown as JsonObject);
  });
}

/** Upstream shows them in their internal version, whatever the client sent. */
export const recordDeleteOptions = (request: ServerRequest, options: DeleteOptionsObject): void =>
  request.audit?.requestObject(undefined, () => ({ kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/__internal', ...(options as JsonObject) }));
