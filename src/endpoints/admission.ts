import type { AdmissionAttributes, AdmissionOperation } from '../registry/admission.ts';
import type { SentObject } from '../registry/write.ts';
import { apiVersionOf } from '../api/api-object.ts';
import type { ServerRequest } from './request.ts';
import { nameOf, namespaceOf } from './scope.ts';
import { type ResourceTarget, clientKindOf } from './target.ts';

/** What admission is told of a request to a subresource that is no write of the object itself. */
export function admissionOf(
  request: ServerRequest,
  target: ResourceTarget,
  operation: AdmissionOperation,
  { object, sentEmpty }: SentObject,
  { dryRun, raw }: { dryRun: boolean; raw: object },
): AdmissionAttributes {
  const { info } = request;
  const { group, version, kind } = clientKindOf(target);
  return {
    operation,
    group: info.apiGroup,
    version: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    kind: { group, version, kind },
    namespace: namespaceOf(request, target),
    name: nameOf(request),
    object,
    sentEmpty,
    oldObject: undefined,
    options: raw,
    dryRun,
    user: request.user,
    context: request,
    definition: target.store.definition,
    apiVersion: apiVersionOf(info.apiGroup, info.apiVersion),
  };
}
