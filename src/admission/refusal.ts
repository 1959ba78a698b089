import type { AdmissionAttributes } from '../registry/admission.ts';
import { ApiError, type StatusCause, forbidden } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import { pathSegmentErrors } from '../api/names.ts';

/** How a plug-in says no (apiserver/pkg/admission NewForbidden). A name that is yet to be generated is told by what it begins with. */
export function refusal(attributes: AdmissionAttributes, why: string): ApiError {
  const { group, resource, name, object } = attributes;
  return forbidden({ group, resource }, name || object?.metadata.name || object?.metadata.generateName || 'Unknown', why);
}

export function refusalWithCause(attributes: AdmissionAttributes, why: string, cause: StatusCause): ApiError {
  const { code, reason, message, status } = refusal(attributes, why);
  return new ApiError(code, reason, message, { ...status.details, causes: [cause] });
}

/** What upstream's client says of a name with which it can make no request; undefined where it can. */
export function lookupNameError(name: string): string | undefined {
  const errors = pathSegmentErrors(name);
  return errors.length === 0 ? undefined : `invalid resource name ${quote(name)}: [${errors.join(' ')}]`;
}
