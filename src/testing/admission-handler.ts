import type { KubernetesObject } from './objects.ts';

/** What the API server asks: `request` of an AdmissionReview (admission.k8s.io/v1). */
export interface AdmissionRequest {
  uid: string;
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  subResource?: string;
  name?: string;
  namespace?: string;
  operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  userInfo: { username?: string; uid?: string; groups?: string[] };
  object: KubernetesObject | null;
  oldObject: KubernetesObject | null;
  dryRun?: boolean;
}

export interface AdmissionAnswer {
  /** Default: true. */
  allowed?: boolean;
  /** Why it is not allowed. */
  message?: string;
  /** The HTTP status of a refusal. Default: 403. */
  code?: number;
  warnings?: readonly string[];
  /** Of a mutating webhook: the object as it is to be. */
  object?: KubernetesObject;
}

/** Says whether a request may pass: `false` or a message refuses it, nothing or `true` allows it. */
export type AdmissionHandler = (request: AdmissionRequest) => AdmissionAnswer | boolean | string | void | Promise<AdmissionAnswer | boolean | string | void>;

export async function answerAdmission(review: KubernetesObject, handler: AdmissionHandler): Promise<KubernetesObject> {
  const request = review['request'] as AdmissionRequest;
  const answer = normalized(await handler(request));
  const patch = answer.object && request.object ? patchOf(request.object, answer.object) : [];
  const isAllowed = answer.allowed ?? true;
  const response = {
    uid: request.uid,
    allowed: isAllowed,
    ...(!isAllowed && { status: { message: answer.message ?? 'refused by the test', code: answer.code ?? 403 } }),
    ...(answer.warnings && { warnings: answer.warnings }),
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

function normalized(answer: AdmissionAnswer | boolean | string | void): AdmissionAnswer {
  if (typeof answer === 'string') return { allowed: false, message: answer };
  if (typeof answer === 'object') return answer;
  return { allowed: answer !== false };
}

/** By top-level fields, which is fine enough for what is stored to be the object as the handler left it. */
function patchOf(from: KubernetesObject, to: KubernetesObject): object[] {
  const pointer = (field: string): string => `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const removed = Object.keys(from).filter((field) => to[field] === undefined);
  const changed = Object.keys(to).filter((field) => to[field] !== undefined && JSON.stringify(from[field]) !== JSON.stringify(to[field]));
  return [
    ...removed.map((field) => ({ op: 'remove', path: pointer(field) })),
    ...changed.map((field) => ({ op: from[field] === undefined ? 'add' : 'replace', path: pointer(field), value: to[field] })),
  ];
}
