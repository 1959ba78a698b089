import { LARGE_BYTES } from '../registry/request-context.ts';
import type { SentObject } from '../registry/write.ts';
import { cborContentType, cborTypeMeta, decodeCborInSlices, decodeCborObject } from '../schema/cbor-decode.ts';
import { DecodeError, type StrictErrors, decode, decodeInSlices } from '../schema/decode.ts';
import { jsonKind } from '../encoding/go-format.ts';
import { withSortedKeys } from '../encoding/sorted-keys.ts';
import { EmptyPaths } from '../schema/empty-paths.ts';
import { decodeEnvelope, decodeProtobuf, decodeProtobufInSlices } from '../schema/protobuf.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { type ApiObject, type GroupVersionKind, apiVersionOf, parseApiVersion } from '../api/api-object.ts';
import { diagnoseCbor } from '../encoding/cbor-diagnose.ts';
import { CborError } from '../encoding/cbor-items.ts';
import { ApiError, badRequest, invalid } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { goText } from '../encoding/go-text.ts';
import { type DuplicateKeys, type NumberLiterals, JsonError } from '../encoding/json-parser.ts';
import { isJsonObject, parseJson, parseJsonInSteps } from '../encoding/json.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { schemaOfSent } from './custom-body.ts';
import { runInSlices } from '../util/time-slice.ts';
import { internalPackage } from './encode.ts';
import { keepManagedFieldsReset } from './managed-fields-reset.ts';
import { CBOR_TYPE, type MediaType, PROTOBUF_TYPE, YAML_TYPE } from './negotiation.ts';
import type { DeleteOptionsObject, FieldValidation } from './options.ts';
import { registeredSchema, schemeOf } from './schemes.ts';
import { type ResourceTarget, clientKindOf, metaSchema } from './target.ts';

/** A body as it came, and what it was sent as. */
export interface RequestBody {
  bytes: Buffer;
  mediaType: MediaType;
}

/** A body whose text was read, but not yet taken for a type. */
interface ReadBody {
  type: { apiVersion: string; kind: string };
  /** All of it, as refusals show it. */
  shown(): string;
  /** Decodes into the schema; throws DecodeError or, from protobuf, badRequest. What is large takes turns. `sentEmpty` as of `decode`. */
  decodeAs(schema: ObjectSchema, strict: StrictErrors | undefined, sentEmpty?: EmptyPaths): JsonObject | Promise<JsonObject>;
}

/**
 * The object in a request's body, of the kind and version that the target's clients write, with that type set whether they sent it or not.
 * Complaints of a strict decoding go to `warn`, or are thrown, or neither, as `fieldValidation` says.
 */
export async function decodeBody(
  body: RequestBody,
  target: ResourceTarget,
  fieldValidation: FieldValidation,
  warn: (text: string) => void,
): Promise<SentObject> {
  const expected = clientKindOf(target);
  const isCustom = expected.schema.custom !== undefined;
  // What is wrong with the scale of a custom resource is told by a part of the server that does not know the type.
  const isScale = target.isCustom && !isCustom;
  const unrecognized = (why: string): ApiError =>
    isScale ? badRequest(UNKNOWN_SCALE) : badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${summary(body.bytes)})`);
  const read = await readBody(body, unrecognized, isCustom);
  const sent = isCustom ? customType(read, unrecognized) : withDefaults(read.type, expected, unrecognized);
  const refuse = (why: string): ApiError =>
    isScale ? badRequest(UNKNOWN_SCALE) : badRequest(`${sent.kind} in version ${quote(sent.version)} cannot be handled as a ${expected.kind}: ${why}`);
  if (sent.version === '' && (!isCustom || body.mediaType === CBOR_TYPE)) throw refuse(`Object 'apiVersion' is missing in '${read.shown()}'`);
  if (!isCustom && !isExpected(sent, target)) await refuseKind(read, sent, target, refuse);

  const strict: StrictErrors | undefined = fieldValidation === 'Ignore' ? undefined : { errors: [] };
  const sentEmpty = new EmptyPaths();
  const reading = decoded(() => read.decodeAs(isCustom ? schemaOfSent(sent, expected, target) : expected.schema, strict, sentEmpty), refuse);
  const object = reading instanceof Promise ? await reading : reading;
  if (strict && strict.errors.length > 0) {
    if (fieldValidation === 'Strict') throw refuse(strictDecodingError(strict.errors));
    for (const error of strict.errors) for (const line of warningsOf(error)) warn(line);
  }
  if (isCustom) checkCustomType(sent, expected, object);
  return { object: withType(object, expected), sentEmpty };
}

/** Custom resources are of no type that could tell what a client has left out. */
function customType(read: ReadBody, unrecognized: (why: string) => ApiError): GroupVersionKind {
  if (read.type.kind === '') throw unrecognized(`Object 'Kind' is missing in '${read.shown()}'`);
  return withDefaults(read.type, { group: '', version: '', kind: '' }, unrecognized);
}

/** Upstream reads one of any kind, and only then validates it (apiextensions-apiserver/pkg/registry/customresource/validator.go). */
function checkCustomType(sent: GroupVersionKind, expected: GroupVersionKind, { metadata }: JsonObject): void {
  if (sent.group !== expected.group || sent.version !== expected.version) throw otherVersion(sent, expected);
  if (sent.kind === expected.kind) return;
  const errors = new FieldErrors();
  errors.at('kind').invalid(sent.kind, `must be ${expected.kind}`);
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  throw invalid({ group: sent.group, kind: sent.kind }, typeof name === 'string' ? name : '', errors.list);
}

const otherVersion = (sent: GroupVersionKind, expected: GroupVersionKind): ApiError =>
  badRequest(
    `the API version in the data (${apiVersionOf(sent.group, sent.version)}) does not match the expected API version (${apiVersionOf(expected.group, expected.version)})`,
  );

export const strictDecodingError = (errors: readonly string[]): string => `strict decoding error: ${errors.join(', ')}`;

function decoded<T>(decodeIt: () => T | Promise<T>, refuse: (why: string) => Error): T | Promise<T> {
  const refusing = (error: unknown): never => {
    throw error instanceof DecodeError || isBadRequest(error) ? refuse(error.message) : error;
  };
  try {
    const reading = decodeIt();
    return reading instanceof Promise ? reading.catch(refusing) : reading;
  } catch (error) {
    return refusing(error);
  }
}

/** What the protobuf decoder says of bad bytes; that there are too many values is told as it is. */
const isBadRequest = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 400;

/** With its type first, as everything is encoded, and metadata there to be read. */
export function withType(object: JsonObject, { group, version, kind }: GroupVersionKind): ApiObject {
  if (object['kind'] === kind && object['apiVersion'] === apiVersionOf(group, version) && startsWithType(object)) return object as unknown as ApiObject;
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion: apiVersionOf(group, version), metadata: metadata ?? {}, ...rest } as unknown as ApiObject;
}

const TYPE_AND_METADATA = ['kind', 'apiVersion', 'metadata'];

function startsWithType(object: JsonObject): boolean {
  let at = 0;
  for (const key in object) {
    if (key !== TYPE_AND_METADATA[at] || object[key] === undefined) return false;
    if (++at === TYPE_AND_METADATA.length) return true;
  }
  return false;
}

async function readBody({ bytes, mediaType }: RequestBody, refuse: (why: string) => ApiError, isCustom = false): Promise<ReadBody> {
  try {
    if (mediaType === PROTOBUF_TYPE) {
      const { apiVersion, kind, raw } = decodeEnvelope(bytes);
      const decodeAs = (schema: ObjectSchema): JsonObject | Promise<JsonObject> =>
        raw.length > LARGE_BYTES ? decodeProtobufInSlices(schema, raw) : decodeProtobuf(schema, raw);
      return { type: { apiVersion, kind }, shown: () => bytes.toString('latin1'), decodeAs };
    }
    if (mediaType === CBOR_TYPE) return readCbor(bytes, isCustom);
    if (mediaType === YAML_TYPE) return await readYaml(bytes);
    const duplicates: DuplicateKeys = new Map();
    const literals: NumberLiterals | undefined = isCustom ? undefined : new Map();
    const reading = readJson(bytes, duplicates, literals);
    const value = reading instanceof Promise ? await reading : reading;
    return {
      type: typeOf(value),
      shown: () => bytes.toString('utf8'),
      decodeAs(schema, strict, sentEmpty) {
        // What is repeated is merged, whether anybody is told of it or not.
        const isRepeated = duplicates.size > 0;
        const isOdd = literals !== undefined && literals.size > 0;
        const told = isRepeated || isOdd ? Object.assign(strict ?? { errors: [] }, isRepeated && { duplicates }, isOdd && { literals }) : strict;
        const isSliced = bytes.length > LARGE_BYTES && !isRepeated;
        const object = isSliced ? decodeInSlices(schema, value, told, sentEmpty) : decode(schema, value, told, sentEmpty);
        return object instanceof Promise ? object.then((read) => keepManagedFieldsReset(schema, value, read)) : keepManagedFieldsReset(schema, value, object);
      },
    };
  } catch (error) {
    throw error instanceof UnreadableBody || isBadRequest(error) ? refuse(error.message) : error;
  }
}

/** The bytes are no JSON, YAML or CBOR, or no object. */
class UnreadableBody extends Error {}

function readCbor(bytes: Buffer, isCustom: boolean): ReadBody {
  try {
    return {
      type: isCustom ? cborContentType(bytes) : cborTypeMeta(bytes),
      shown: () => diagnoseCbor(bytes),
      decodeAs(schema, strict, sentEmpty) {
        if (bytes.length > LARGE_BYTES)
          return decodeCborInSlices(schema, bytes, strict, sentEmpty).then(({ value, object }) => keepManagedFieldsReset(schema, value, object));
        const { value, object } = decodeCborObject(schema, bytes, strict, sentEmpty);
        return keepManagedFieldsReset(schema, value, object);
      },
    };
  } catch (error) {
    throw error instanceof CborError ? new UnreadableBody(`unable to determine group/version/kind: ${error.message}`) : error;
  }
}

function readJson(bytes: Buffer, duplicates: DuplicateKeys, literals: NumberLiterals | undefined): Json | Promise<Json> {
  const refuse = (error: unknown): never => {
    throw error instanceof JsonError ? new UnreadableBody(`couldn't get version/kind; json parse error: ${error.message}`) : error;
  };
  if (bytes.length > LARGE_BYTES) return runInSlices(parseJsonInSteps(bytes, duplicates, literals)).catch(refuse);
  try {
    return parseJson(bytes, duplicates, literals);
  } catch (error) {
    return refuse(error);
  }
}

async function readYaml(bytes: Buffer): Promise<ReadBody> {
  const { YamlError, parseYamlInSlices } = await import('../encoding/yaml.ts');
  const text = bytes.toString('utf8');
  const duplicates: DuplicateKeys = new Map();
  try {
    const value = await parseYamlInSlices(text, duplicates);
    const repeated = duplicates.size > 0 ? await yamlComplaints(text) : [];
    return {
      type: typeOf(value),
      shown: () => text,
      async decodeAs(schema, strict, sentEmpty) {
        const unknown: string[] = [];
        const object = await decodeInSlices(schema, value, strict && { errors: unknown }, sentEmpty);
        // Upstream makes JSON of it first, with sorted keys and no repeats, and reads the text once more for those.
        strict?.errors.push(...repeated, ...(unknown.length > 1 && schema.custom === undefined ? unknownFields(schema, withSortedKeys(value)) : unknown));
        return keepManagedFieldsReset(schema, value, object);
      },
    };
  } catch (error) {
    throw error instanceof YamlError ? new UnreadableBody(error.message) : error;
  }
}

function unknownFields(schema: ObjectSchema, value: Json): string[] {
  const errors: string[] = [];
  decode(schema, value, { errors });
  return errors;
}

const UNKNOWN_SCALE = 'no kind is registered for the type v1.Scale in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"';

async function yamlComplaints(text: string): Promise<string[]> {
  const { repeatedKeys } = await import('../encoding/yaml-duplicates.ts');
  const lines = (await repeatedKeys(text)).map(({ line, key }) => `\n  line ${line}: key ${key} already set in map`);
  return lines.length === 0 ? [] : [YAML_ERRORS + lines.join('')];
}

const YAML_ERRORS = 'yaml: unmarshal errors:';

/** Every line of what the YAML parser says is a warning of its own. */
const warningsOf = (error: string): string[] => (error.startsWith(YAML_ERRORS) ? error.slice(YAML_ERRORS.length).split('\n  ').slice(1) : [error]);

/** The Go type that upstream reads a body's kind and version into. */
export const GO_TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** Only the type, as upstream reads it before anything else; `null` is an object without fields. */
function typeOf(value: Json): ReadBody['type'] {
  if (value === null) return { apiVersion: '', kind: '' };
  if (!isJsonObject(value)) throw typeMismatch(value, `Go value of type ${GO_TYPE_META}`);
  const { apiVersion = '', kind = '' } = value;
  if (apiVersion !== null && typeof apiVersion !== 'string') throw typeMismatch(apiVersion, 'Go struct field .apiVersion of type string');
  if (kind !== null && typeof kind !== 'string') throw typeMismatch(kind, 'Go struct field .kind of type string');
  return { apiVersion: apiVersion ?? '', kind: kind ?? '' };
}

const typeMismatch = (what: Json, into: string): UnreadableBody =>
  new UnreadableBody(`couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKind(what)} into ${into}`);

/** What the client left out of the type is what the endpoint expects (serializer/json gvkWithDefaults). */
function withDefaults({ apiVersion, kind }: ReadBody['type'], expected: GroupVersionKind, refuse: (why: string) => ApiError): GroupVersionKind {
  const sent = parseApiVersion(apiVersion);
  if (sent === undefined) throw refuse(`unexpected GroupVersion string: ${apiVersion}`);
  const isLeftOut = sent.version === '' && (sent.group === '' || sent.group === expected.group);
  const { group, version } = isLeftOut ? expected : sent;
  return { group, version, kind: kind || expected.kind };
}

function isExpected({ group, version, kind }: GroupVersionKind, target: ResourceTarget): boolean {
  const expected = clientKindOf(target);
  if (kind !== expected.kind || group !== expected.group) return false;
  return version === expected.version || (target.subresource?.alsoAcceptsVersions?.includes(version) ?? false);
}

/** Another kind than the endpoint's: nobody's, another one's, or the same in another version. It is read as what it says it is first. */
async function refuseKind(read: ReadBody, sent: GroupVersionKind, target: ResourceTarget, refuse: (why: string) => ApiError): Promise<never> {
  if (target.isCustom) throw refuse('');
  const expected = clientKindOf(target);
  const schema = registeredSchema(sent, expected.group, target.environment);
  if (schema === undefined)
    throw refuse(
      `no kind ${quote(sent.kind)} is registered for version ${quote(apiVersionOf(sent.group, sent.version))} in scheme ${schemeOf(expected.group)}`,
    );
  await decoded(() => read.decodeAs(schema, undefined), refuse);
  throw sent.kind === expected.kind ? otherVersion(sent, expected) : refuse(unknownConversion(sent, expected));
}

export const unknownConversion = (sent: GroupVersionKind, expected: GroupVersionKind): string =>
  `converting (${sent.version}.${sent.kind}) to (${internalPackage(expected.group)}.${expected.kind}): unknown conversion`;

const SUMMARY_BYTES = 30;

/** Text that looks like JSON is shown, anything else in hexadecimal. */
function summary(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const start = bytes.subarray(0, SUMMARY_BYTES);
  const text = bytes[0] === 0x7b ? goText(start) : start.toString('hex');
  return bytes.length > SUMMARY_BYTES ? `${text} ...` : text;
}

/** DeleteOptions of any group-version are the same. What does not fit is refused with the bare reason. */
export async function decodeDeleteOptions(body: RequestBody, { environment }: ResourceTarget): Promise<DeleteOptionsObject> {
  const expected = { group: 'meta.k8s.io', version: 'v1', kind: 'DeleteOptions' };
  const read = await readBody(body, badRequest);
  const sent = withDefaults(read.type, expected, badRequest);
  if (sent.kind !== expected.kind) {
    throw badRequest(
      `no kind ${quote(sent.kind)} is registered for version ${quote(apiVersionOf(sent.group, sent.version))} in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
    );
  }
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    ...options
  } = await decoded(() => read.decodeAs(metaSchema(environment, 'v1', expected.kind), undefined), badRequest);
  return options as DeleteOptionsObject;
}
