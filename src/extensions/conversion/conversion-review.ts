import { UnreadableAnswer, readReview } from '../../client/webhook-review.ts';
import { jsonKind } from '../../encoding/go-format.ts';
import { quote } from '../../util/go-quote.ts';
import { isJsonObject, ownValue } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';

export const REVIEW_GROUP = 'apiextensions.k8s.io';
const KIND = 'ConversionReview';

export type ConversionReviewVersion = 'v1' | 'v1beta1';

/** An answer that can be read, and is none to what was asked. */
export class MalformedReview extends Error {}

/** What the decoder of the answers knows, by Go's names. */
const KNOWN_KINDS: ReadonlyMap<string, string> = new Map([
  ...['v1', 'v1beta1'].flatMap((version) =>
    [KIND, 'CustomResourceDefinition', 'CustomResourceDefinitionList'].map((kind): [string, string] => [
      `${REVIEW_GROUP}/${version} ${kind}`,
      `${version}.${kind}`,
    ]),
  ),
  // Kinds of meta/v1 that every group has.
  ...['v1', 'v1beta1'].flatMap((version) =>
    ['CreateOptions', 'DeleteOptions', 'GetOptions', 'ListOptions', 'PatchOptions', 'UpdateOptions', 'WatchEvent'].map((kind): [string, string] => [
      `${REVIEW_GROUP}/${version} ${kind}`,
      `v1.${kind}`,
    ]),
  ),
  ['v1 Status', 'v1.Status'],
]);

/** The objects that an answer has, not looked at yet. Throws UnreadableAnswer or MalformedReview (getConvertedObjectsFromResponse). */
export async function convertedObjects(answer: Buffer, uid: string, version: ConversionReviewVersion): Promise<Json[]> {
  const review = await readReview(answer, { apiVersion: `${REVIEW_GROUP}/${version}`, kind: KIND, known: KNOWN_KINDS });
  const response = readResponse(review, version);
  // In v1beta1 neither the type nor the uid was looked at.
  if (version === 'v1') checkType(review);
  if (response === undefined) throw new MalformedReview('no response provided');
  if (version === 'v1' && response.uid !== uid) throw new MalformedReview(`expected response.uid=${quote(uid)}, got ${quote(response.uid)}`);
  if (response.status !== 'Success') throw new MalformedReview(response.message || `response.result.status was '${response.status}', not 'Success'`);
  return response.convertedObjects;
}

function checkType(review: JsonObject): void {
  const [apiVersion, kind] = [String(ownValue(review, 'apiVersion') ?? ''), String(ownValue(review, 'kind') ?? '')];
  const expected = `${REVIEW_GROUP}/v1`;
  if (apiVersion === expected && kind === KIND) return;
  const shown = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  throw new MalformedReview(`expected webhook response of ${expected}, Kind=${KIND}, got ${shown}, Kind=${kind}`);
}

interface ConversionResponse {
  uid: string;
  status: string;
  message: string;
  convertedObjects: Json[];
}

/** Fields of the wrong type are errors of the decoder, whichever comes first. */
function readResponse(review: JsonObject, version: ConversionReviewVersion): ConversionResponse | undefined {
  const response = ownValue(review, 'response') ?? null;
  if (response === null) return undefined;
  if (!isJsonObject(response)) throw wrongType(response, `${KIND}.response`, `${version}.ConversionResponse`);
  const uid = ownValue(response, 'uid') ?? '';
  if (typeof uid !== 'string') throw wrongType(uid, 'ConversionResponse.response.uid', 'types.UID');
  const objects = ownValue(response, 'convertedObjects') ?? [];
  if (!Array.isArray(objects)) throw wrongType(objects, 'ConversionResponse.response.convertedObjects', '[]runtime.RawExtension');
  const result = ownValue(response, 'result') ?? {};
  if (!isJsonObject(result)) throw wrongType(result, 'ConversionResponse.response.result', 'v1.Status');
  return { uid, ...readResult(result), convertedObjects: objects };
}

/** Of a meta/v1 Status; what nobody asks for must be of its type too. */
function readResult(result: JsonObject): Pick<ConversionResponse, 'status' | 'message'> {
  const text = (field: string, goType = 'string'): string => {
    const value = ownValue(result, field) ?? '';
    if (typeof value !== 'string') throw wrongType(value, `Status.response.result.${field}`, goType);
    return value;
  };
  for (const [field, goType] of [
    ['metadata', 'v1.ListMeta'],
    ['details', 'v1.StatusDetails'],
  ] as const) {
    const value = ownValue(result, field) ?? {};
    if (!isJsonObject(value)) throw wrongType(value, `Status.response.result.${field}`, goType);
  }
  const code = ownValue(result, 'code') ?? 0;
  if (typeof code !== 'number' && typeof code !== 'bigint') throw wrongType(code, 'Status.response.result.code', 'int32');
  text('reason', 'v1.StatusReason');
  return { status: text('status'), message: text('message') };
}

const wrongType = (value: Json, field: string, goType: string): UnreadableAnswer =>
  new UnreadableAnswer(`json: cannot unmarshal ${jsonKind(value)} into Go struct field ${field} of type ${goType}`);
