import type { AdmissionAttributes } from '../registry/admission.ts';
import { qualifiedNameErrors } from '../api/names.ts';

/** What others want recorded of a write. A key that is not `<DNS subdomain>/<name>` is passed over (apiserver/pkg/admission, checkKeyFormat). */
export function annotateForOthers({ context }: AdmissionAttributes, key: string, value: string): void {
  if (key.split('/').length === 2 && qualifiedNameErrors(key).length === 0) context.annotateAudit(key, value);
}
