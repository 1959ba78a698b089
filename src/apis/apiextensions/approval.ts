import { quote } from '../../util/go-quote.ts';
import { parseGoUrl } from '../../net/go-url.ts';

/** Groups of the community: what is defined in them says where it was approved, or that it was not (KEP-2337). */
export const APPROVED_ANNOTATION = 'api-approved.kubernetes.io';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

export interface Approval {
  state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  reason: string;
}

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

export function approvalOf(annotations: Record<string, string> | undefined): Approval {
  const annotation = annotations?.[APPROVED_ANNOTATION] ?? '';
  const subject = `protected groups must have approval annotation ${quote(APPROVED_ANNOTATION)}`;
  if (annotation === '') return { state: 'missing', reason: `${subject}, ${SEE}` };
  if (annotation.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${quote(annotation)}` };
  const url = parseGoUrl(annotation);
  if (!('error' in url) && url.host !== '' && url.scheme !== '') return { state: 'approved', reason: `approved in ${annotation}` };
  return { state: 'invalid', reason: `${subject} with either a URL or a reason starting with "unapproved", ${SEE}` };
}
