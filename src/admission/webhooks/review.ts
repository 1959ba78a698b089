import { randomUUID } from 'node:crypto';
import { jsonKind } from '../../encoding/go-format.ts';
import { UnreadableAnswer, readReview } from '../../client/webhook-review.ts';
import type { AdmissionAttributes, AdmissionOperation } from '../../registry/admission.ts';
import { quote } from '../../util/go-quote.ts';
import { apiVersionOf } from '../../api/api-object.ts';
import { isJsonObject, ownValue } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { namespaceOfWrite } from './match.ts';
import type { ShownObjects } from './shown-objects.ts';
import type { AdmissionView } from './view.ts';

/** What a webhook is asked. `version` is that of the review: v1 or v1beta1. */
export interface WebhookReview {
  uid: string;
  version: AdmissionReviewVersion;
  body: JsonObject;
}

export type AdmissionReviewVersion = 'v1' | 'v1beta1';

/** What a webhook says, whatever the version in which it says it. */
export interface AdmissionResponse {
  allowed: boolean;
  /** A JSON patch, as bytes; empty where there is none. */
  patch: Buffer;
  patchType: string;
  /** A meta/v1 Status. */
  status: JsonObject | undefined;
  warnings: readonly string[];
  auditAnnotations: readonly (readonly [key: string, value: string])[];
}

const GROUP = 'admission.k8s.io';
const KIND = 'AdmissionReview';

/** The first one that both sides know. Throws an Error where there is none. */
export function reviewVersion(accepted: readonly string[]): AdmissionReviewVersion {
  const found = accepted.find((version) => version === 'v1' || version === 'v1beta1');
  if (found === undefined) throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  return found as AdmissionReviewVersion;
}

export function createReview(
  version: AdmissionReviewVersion,
  attributes: AdmissionAttributes,
  requested: AdmissionView,
  view: AdmissionView,
  objects: ShownObjects,
): WebhookReview {
  const uid = randomUUID();
  const { dryRun, options, ...request } = requestOf(attributes, requested, view);
  const shown = { object: objects.object ?? null, oldObject: objects.oldObject ?? null };
  return {
    uid,
    version,
    body: { kind: KIND, apiVersion: `${GROUP}/${version}`, request: { uid, ...request, ...shown, dryRun: dryRun!, options: options ?? null } },
  };
}

/** The request without its objects: what conditions see as `request` (apiserver/pkg/admission/plugin/webhook/request, CreateV1AdmissionReview). */
export function requestOf(attributes: AdmissionAttributes, requested: AdmissionView, view: AdmissionView): JsonObject {
  const { resource, subresource, name, operation, user, dryRun } = attributes;
  const namespace = namespaceOfWrite(attributes);
  return {
    kind: { ...view.kind },
    resource: { group: view.group, version: view.version, resource },
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: { ...requested.kind },
    requestResource: { group: requested.group, version: requested.version, resource },
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && { extra: user.extra }),
    },
    dryRun,
    options: optionsOf(attributes),
  };
}

const OPTIONS_KINDS: Readonly<Record<AdmissionOperation, string | undefined>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: undefined,
};

/** A patch's options are shown as those of what it comes to: `force` is not among them. */
function optionsOf({ operation, options }: AdmissionAttributes): JsonObject | null {
  const kind = OPTIONS_KINDS[operation];
  if (kind === undefined) return null;
  const { force: _force, ...others } = options as JsonObject;
  return { ...others, kind, apiVersion: 'meta.k8s.io/v1' };
}

/** Throws UnreadableAnswer, or another Error where the answer can be read and is wrong. */
export async function readResponse(answer: Buffer, { uid, version }: WebhookReview, isMutating: boolean): Promise<AdmissionResponse> {
  const review = await readReview(answer, { apiVersion: apiVersionOf(GROUP, version), kind: KIND, known: KNOWN_KINDS });
  const response = ownValue(review, 'response') ?? null;
  if (response === null) throw new Error('webhook response was absent');
  if (!isJsonObject(response)) throw unmarshalError(response, 'response', 'AdmissionResponse');
  const patch = bytesOf(response, 'patch');
  const patchType = ownValue(response, 'patchType') ?? null;
  if (version === 'v1') checkV1(response, uid, patch, patchType, isMutating);
  return {
    allowed: booleanOf(response, 'allowed'),
    patch: isMutating ? patch : Buffer.alloc(0),
    // Not looked at in v1beta1, which knew one type only.
    patchType: version === 'v1beta1' ? 'JSONPatch' : ((patchType ?? '') as string),
    status: objectOf(response, 'status'),
    warnings: textsOf(response, 'warnings'),
    auditAnnotations: textEntriesOf(response, 'auditAnnotations'),
  };
}

/** What the decoder of webhooks' answers knows, by Go's names. */
const KNOWN_KINDS: ReadonlyMap<string, string> = new Map([
  [`${GROUP}/v1 ${KIND}`, `v1.${KIND}`],
  [`${GROUP}/v1beta1 ${KIND}`, `v1beta1.${KIND}`],
  ['v1 Status', 'v1.Status'],
]);

/** Which v1 asks for, and v1beta1 did not (request/admissionreview.go VerifyAdmissionResponse). */
function checkV1(response: JsonObject, uid: string, patch: Buffer, patchType: Json, isMutating: boolean): void {
  const answered = textOf(response, 'uid');
  if (answered !== uid) throw new Error(`expected response.uid=${quote(uid)}, got ${quote(answered)}`);
  if (!isMutating) {
    if (patch.length > 0) throw new Error('validating webhook may not return response.patch');
    if (patchType !== null) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (patch.length > 0 && patchType === null) throw new Error('webhook returned response.patch but not response.patchType');
  if (patch.length === 0 && patchType !== null) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType !== null && (typeof patchType !== 'string' || patchType === '')) throw new Error('webhook returned invalid response.patchType of ""');
}

/** Absent, or null, is the zero value. */
function fieldOf<T extends Json>(object: JsonObject, field: string, isRight: (value: Json) => value is T, zero: T, goType: string): T {
  const value = ownValue(object, field) ?? null;
  if (value === null) return zero;
  if (!isRight(value)) throw unmarshalError(value, field, goType);
  return value;
}

const isText = (value: Json): value is string => typeof value === 'string';
const isBoolean = (value: Json): value is boolean => typeof value === 'boolean';
const textOf = (object: JsonObject, field: string): string => fieldOf(object, field, isText, '', 'string');
const booleanOf = (object: JsonObject, field: string): boolean => fieldOf(object, field, isBoolean, false, 'bool');
const textsOf = (object: JsonObject, field: string): string[] => {
  const items = fieldOf(object, field, Array.isArray as (value: Json) => value is Json[], [], '[]string');
  return items.map((item) => asText(item, field));
};
/** Of a map that may have tens of thousands: another object of them would take longer to make than all else. */
const textEntriesOf = (object: JsonObject, field: string): [key: string, value: string][] =>
  Object.entries(fieldOf(object, field, isJsonObject, {}, 'map[string]string')).map(([key, value]) => [key, asText(value!, field)]);

function asText(value: Json, field: string): string {
  if (value === null) return '';
  if (!isText(value)) throw unmarshalError(value, field, 'string');
  return value;
}

/** Go reads no further than the first character that is none of base64's. */
function bytesOf(object: JsonObject, field: string): Buffer {
  const text = textOf(object, field).replaceAll(/[\r\n]/g, '');
  const legal = /^[A-Za-z0-9+/]*={0,2}/.exec(text)![0].length;
  if (legal < text.length || text.length % 4 !== 0)
    throw new UnreadableAnswer(`illegal base64 data at input byte ${Math.min(legal, text.length - (text.length % 4))}`);
  return Buffer.from(text, 'base64');
}
function objectOf(object: JsonObject, field: string): JsonObject | undefined {
  const value = ownValue(object, field) ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw unmarshalError(value, field, 'v1.Status');
  return value;
}

const unmarshalError = (value: Json, field: string, goType: string): UnreadableAnswer =>
  new UnreadableAnswer(`json: cannot unmarshal ${jsonKind(value)} into Go struct field AdmissionResponse.response.${field} of type ${goType}`);
