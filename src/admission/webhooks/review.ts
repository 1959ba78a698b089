import { randomUUID } from 'node:crypto';
import type { AdmissionAttributes, AdmissionOperation } from '../../registry/admission.ts';
import { quote } from '../../util/field-errors.ts';
import { apiVersionOf } from '../../util/api-object.ts';
import { isJsonObject, ownValue, parseJson } from '../../util/json.ts';
import type { Json, JsonObject } from '../../util/json-types.ts';
import { namespaceOf } from './match.ts';
import type { View } from './view.ts';

/** What a webhook is asked. `version` is that of the review: v1 or v1beta1. */
export interface Review {
  uid: string;
  version: ReviewVersion;
  body: JsonObject;
}

export type ReviewVersion = 'v1' | 'v1beta1';

/** What a webhook says, whatever the version in which it says it. */
export interface Verdict {
  allowed: boolean;
  /** A JSON patch, as bytes; empty where there is none. */
  patch: Buffer;
  patchType: string;
  /** A meta/v1 Status. */
  status: JsonObject | undefined;
  warnings: readonly string[];
  auditAnnotations: Readonly<Record<string, string>>;
}

const GROUP = 'admission.k8s.io';
const KIND = 'AdmissionReview';

/** The first one that both sides know. Throws an Error where there is none. */
export function reviewVersion(accepted: readonly string[]): ReviewVersion {
  const found = accepted.find((version) => version === 'v1' || version === 'v1beta1');
  if (found === undefined) throw new Error('webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  return found as ReviewVersion;
}

export function createReview(version: ReviewVersion, attributes: AdmissionAttributes, requested: View, view: View): Review {
  const uid = randomUUID();
  const { object, oldObject } = attributes;
  const { dryRun, options, ...request } = requestOf(attributes, requested, view);
  const shown = { object: object ? view.show(object) : null, oldObject: oldObject ? view.show(oldObject) : null };
  return {
    uid,
    version,
    body: { kind: KIND, apiVersion: `${GROUP}/${version}`, request: { uid, ...request, ...shown, dryRun: dryRun!, options: options ?? null } },
  };
}

/** The request without its objects: what conditions see as `request` (apiserver/pkg/admission/plugin/webhook/request, CreateV1AdmissionReview). */
export function requestOf(attributes: AdmissionAttributes, requested: View, view: View): JsonObject {
  const { resource, subresource, name, operation, user, dryRun } = attributes;
  const namespace = namespaceOf(attributes);
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

/** An answer that cannot be read at all; to upstream, the call has failed. */
export class UnreadableAnswer extends Error {}

/** Throws UnreadableAnswer, or another Error where the answer can be read and is wrong. */
export function readVerdict(answer: Buffer, { uid, version }: Review, isMutating: boolean): Verdict {
  const review = parseReview(answer);
  const response = ownValue(review, 'response') ?? null;
  if (response === null) throw new Error('webhook response was absent');
  if (!isJsonObject(response)) throw unmarshalError(response, 'response', 'AdmissionResponse');
  const patch = Buffer.from(textOf(response, 'patch'), 'base64');
  const patchType = ownValue(response, 'patchType') ?? null;
  if (version === 'v1') checkV1(review, response, uid, patch, patchType, isMutating);
  return {
    allowed: booleanOf(response, 'allowed'),
    patch: isMutating ? patch : Buffer.alloc(0),
    // Not looked at in v1beta1, which knew one type only.
    patchType: version === 'v1beta1' ? 'JSONPatch' : ((patchType ?? '') as string),
    status: objectOf(response, 'status'),
    warnings: textsOf(response, 'warnings'),
    auditAnnotations: textMapOf(response, 'auditAnnotations'),
  };
}

function parseReview(answer: Buffer): JsonObject {
  let review: Json;
  try {
    review = parseJson(answer);
  } catch (error) {
    throw new UnreadableAnswer(`couldn't get version/kind; json parse error: ${(error as Error).message}`);
  }
  if (!isJsonObject(review))
    throw new UnreadableAnswer(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKind(review)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  const [kind, apiVersion] = [textOf(review, 'kind'), textOf(review, 'apiVersion')];
  if (kind === '') throw new UnreadableAnswer(`Object 'Kind' is missing in '${answer.toString('utf8', 0, MAX_SHOWN_BYTES)}'`);
  if (apiVersion === '') throw new UnreadableAnswer(`Object 'apiVersion' is missing in '${answer.toString('utf8', 0, MAX_SHOWN_BYTES)}'`);
  if (kind !== KIND || !apiVersion.startsWith(`${GROUP}/`)) throw new UnreadableAnswer(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)}`);
  return review;
}

const MAX_SHOWN_BYTES = 1024;

/** Which v1 asks for, and v1beta1 did not (request/admissionreview.go VerifyAdmissionResponse). */
function checkV1(review: JsonObject, response: JsonObject, uid: string, patch: Buffer, patchType: Json, isMutating: boolean): void {
  const answered = textOf(response, 'uid');
  if (answered !== uid) throw new Error(`expected response.uid=${quote(uid)}, got ${quote(answered)}`);
  const apiVersion = textOf(review, 'apiVersion');
  if (apiVersion !== apiVersionOf(GROUP, 'v1'))
    throw new Error(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${apiVersion}, Kind=${textOf(review, 'kind')}`);
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
const isTexts = (value: Json): value is string[] => Array.isArray(value) && value.every(isText);
const isTextMap = (value: Json): value is Record<string, string> =>
  isJsonObject(value) && Object.values(value).every((item) => item !== undefined && isText(item));

const textOf = (object: JsonObject, field: string): string => fieldOf(object, field, isText, '', 'string');
const booleanOf = (object: JsonObject, field: string): boolean => fieldOf(object, field, isBoolean, false, 'bool');
const textsOf = (object: JsonObject, field: string): string[] => fieldOf(object, field, isTexts, [], '[]string');
const textMapOf = (object: JsonObject, field: string): Record<string, string> => fieldOf(object, field, isTextMap, {}, 'map[string]string');
function objectOf(object: JsonObject, field: string): JsonObject | undefined {
  const value = ownValue(object, field) ?? undefined;
  if (value !== undefined && !isJsonObject(value)) throw unmarshalError(value, field, 'v1.Status');
  return value;
}

const unmarshalError = (value: Json, field: string, goType: string): UnreadableAnswer =>
  new UnreadableAnswer(`json: cannot unmarshal ${goKind(value)} into Go struct field AdmissionResponse.response.${field} of type ${goType}`);

const goKind = (value: Json): string => (Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value);
