import { validateAnnotations, validateLabels } from '../../registry/metadata.ts';
import { clone } from '../../schema/clone.ts';
import { type ApiObject, type ObjectMeta, parseApiVersion } from '../../api/api-object.ts';
import { FieldErrors, summarize } from '../../api/field-errors.ts';
import { goTypeOfValue } from '../../encoding/go-format.ts';
import { isJsonObject, ownValue, stringifyJson } from '../../encoding/json.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { jsonKind } from '../../encoding/go-format.ts';
import type { ConversionFailure } from './metrics.ts';

/** A conversion that failed, in the words that the client is told. */
export class ConversionError extends Error {
  readonly failure: ConversionFailure;
  constructor(failure: ConversionFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

const invalidObject = (message: string): ConversionError => new ConversionError('invalid_converted_object_failure', message);

/** What came back for an object, held to what a conversion may change: not the kind, nor of metadata anything but labels and annotations. */
export function acceptedObject(original: ApiObject, answer: Json, apiVersion: string): ApiObject {
  const subject = `conversion webhook for ${original.apiVersion}, Kind=${original.kind}`;
  const converted = readObject(answer);
  const { kind, shownVersion } = typeOf(converted);
  if (shownVersion !== apiVersion)
    throw invalidObject(`${subject} returned invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${shownVersion})`);
  if (kind !== original.kind) throw invalidObject(`${subject} returned invalid object at index 0: invalid kind (expected ${original.kind}, received ${kind})`);
  checkIdentity(original, ownValue(converted, 'metadata'), (why) => invalidObject(`${subject} returned invalid object: ${why}`));
  const metadata = restoredMetadata(original, converted, (why) => invalidObject(`${subject} returned invalid metadata: ${why}`));
  return { ...converted, metadata } as unknown as ApiObject;
}

/** unstructured.Unstructured UnmarshalJSON */
function readObject(answer: Json): JsonObject {
  if (answer === null) throw invalidObject('unexpected end of JSON input');
  if (!isJsonObject(answer)) throw invalidObject(`json: cannot unmarshal ${jsonKind(answer)} into Go value of type map[string]interface {}`);
  if (typeof ownValue(answer, 'kind') !== 'string' || answer['kind'] === '') throw invalidObject(`Object 'Kind' is missing in '${stringifyJson(answer)}'`);
  return answer;
}

/** A version that is none has no kind either. */
function typeOf(object: JsonObject): { kind: string; shownVersion: string } {
  const apiVersion = ownValue(object, 'apiVersion');
  const shownVersion = typeof apiVersion === 'string' ? apiVersion : '';
  return parseApiVersion(shownVersion) === undefined ? { kind: '', shownVersion: '' } : { kind: String(object['kind']), shownVersion };
}

/** Server-side apply also converts an object of which everything that its manager had owned was taken away: it may have no metadata. */
const metadataOf = (object: ApiObject): Partial<ObjectMeta> => (object as Partial<ApiObject>).metadata ?? {};

function checkIdentity(original: ApiObject, answered: Json | undefined, refuse: (why: string) => Error): void {
  const metadata = isJsonObject(answered ?? null) ? (answered as JsonObject) : {};
  for (const [field, shown] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const value = ownValue(metadata, field);
    const [expected, got] = [metadataOf(original)[field] ?? '', typeof value === 'string' ? value : ''];
    if (expected !== got) throw refuse(`must have the same ${shown}: ${expected} != ${got}`);
  }
}

function restoredMetadata(original: ApiObject, converted: JsonObject, refuse: (why: string) => Error): JsonObject {
  const answered = ownValue(converted, 'metadata');
  if (answered === undefined) throw refuse('missing metadata in converted object');
  if (!isJsonObject(answered)) throw refuse(`invalid metadata of type ${goTypeOfValue(answered)} in converted object`);
  const metadata = clone(metadataOf(original)) as unknown as JsonObject;
  for (const field of ['labels', 'annotations'] as const) {
    const value = ownValue(answered, field) ?? null;
    if (value === null) {
      delete metadata[field];
      continue;
    }
    if (!isJsonObject(value)) throw refuse(`invalid metadata.${field} of type ${goTypeOfValue(value)} in converted object`);
    for (const [key, text] of Object.entries(value))
      if (typeof text !== 'string') throw refuse(`metadata.${field}[${key}] must be a string, but is ${goTypeOfValue(text!)} in converted object`);
    if (!equalJson(metadata[field] ?? {}, value)) validateTexts(field, value as Record<string, string>, refuse);
    metadata[field] = value;
  }
  return metadata;
}

function validateTexts(field: 'labels' | 'annotations', texts: Record<string, string>, refuse: (why: string) => Error): void {
  const errors = new FieldErrors('metadata');
  if (field === 'labels') validateLabels(texts, errors.at('labels'));
  // Upstream's path of annotations is in the singular.
  else validateAnnotations(texts, errors.at('annotation'));
  if (!errors.isEmpty) throw refuse(summarize(errors.list));
}
