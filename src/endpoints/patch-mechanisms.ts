import { jsonKind } from '../encoding/go-format.ts';
import { DecodeError, type StrictErrors, convert, convertInSlices, decode, decodeInSlices } from '../schema/decode.ts';
import { applyJsonPatch, parseJsonPatch } from '../schema/json-patch.ts';
import { applyMergePatch, parseMergePatch } from '../schema/merge-patch.ts';
import { applyStrategicMergePatch, parseStrategicMergePatch, patchAfterMerge } from '../schema/strategic-merge.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { type GroupVersionKind, apiVersionOf, parseApiVersion } from '../api/api-object.ts';
import { internalError, invalid } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { formatGo } from '../encoding/go-format.ts';
import { isJsonObject, stringifyJson } from '../encoding/json.ts';
import type { NumberLiterals } from '../encoding/json-parser.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { hasMarks, withNumbersAsWritten, withoutMarks } from '../encoding/number-literals.ts';
import { withSortedKeys } from '../encoding/sorted-keys.ts';
import { runAtOnce, runSliced } from '../util/time-slice.ts';
import { GO_TYPE_META, strictDecodingError, unknownConversion } from './decode-body.ts';
import { keepManagedFieldsReset } from './managed-fields-reset.ts';
import { EmptyPaths, NOTHING_EMPTY } from '../schema/empty-paths.ts';
import type { FieldValidation } from './options.ts';
import { SCALE_SCHEME, schemeOf } from './schemes.ts';
import type { ClientKind } from './target.ts';

/** The patch or its result as an error shows it: written where there is one. */
type Shown = () => string;

/** What a patch is applied to. */
export interface PatchContext {
  /** The present object in the client's version; never changed. */
  before: JsonObject;
  kind: ClientKind;
  isCustom: boolean;
  /** The type of another kind, where the server knows it. */
  registered(sent: GroupVersionKind): ObjectSchema | undefined;
  fieldValidation: FieldValidation;
  warn(text: string): void;
  /** Others have a turn between parsing, patching and decoding. */
  isLarge: boolean;
}

/**
 * One way of patching. Reading the body is left to the time when the object is there, as upstream does: a missing object is told before a bad
 * patch. The result is decoded: a new object in canonical order.
 */
export type PatchMechanism = (bytes: Buffer, context: PatchContext) => Promise<Patched>;

export interface Patched {
  patched: JsonObject;
  sentEmpty: EmptyPaths;
}

/** RFC 6902. */
export const jsonPatch: PatchMechanism = async (bytes, context) => {
  const strict = strictErrorsFor(context);
  const operations = await runSliced(parseJsonPatch(bytes, strict?.errors), context.isLarge);
  const patched = await runSliced(applyJsonPatch(context.before, operations), context.isLarge);
  const isMarked = operations.some(({ value }) => hasMarks(value));
  // To upstream, a custom object is a map, whose keys Go sorts as it is written; what the patch brings stays as it was sent.
  const asShown = context.kind.schema.custom && ((): Json => runAtOnce(applyJsonPatch(withSortedKeys(context.before) as JsonObject, operations)));
  return decodePatched(patched, isMarked, strict, context, asShown);
};

/** RFC 7386. */
export const mergePatch: PatchMechanism = async (bytes, context) => {
  const strict = strictErrorsFor(context);
  const patch = await runSliced(parseMergePatch(bytes, strict?.errors), context.isLarge);
  const patched = await runSliced(applyMergePatch(context.before, patch), context.isLarge);
  return decodePatched(patched, hasMarks(patch), strict, context, context.kind.schema.custom && (() => withSortedKeys(patched)));
};

/** apimachinery/pkg/util/strategicpatch: lists merge as their type says. */
export const strategicMergePatch: PatchMechanism = async (bytes, context) => {
  const strict = strictErrorsFor(context);
  const patch = await runSliced(parseStrategicMergePatch(bytes, strict?.errors), context.isLarge);
  const patched = await runSliced(applyStrategicMergePatch(context.kind.schema, context.before, patch), context.isLarge);
  const shown = (): string => formatGo(patchAfterMerge(context.kind.schema, context.before, patch));
  const sentEmpty = new EmptyPaths();
  const { schema } = context.kind;
  const decoded = context.isLarge
    ? await decodedLargeOrInvalid(() => convertInSlices(schema, patched, strict, sentEmpty), shown)
    : decodedOrInvalid(() => convert(schema, patched, strict, sentEmpty), shown);
  const object = keepManagedFieldsReset(schema, patched, decoded);
  settleStrictErrors(strict, shown, context);
  return { patched: object, sentEmpty };
};

const strictErrorsFor = ({ fieldValidation }: PatchContext): StrictErrors | undefined => (fieldValidation === 'Ignore' ? undefined : { errors: [] });

/** Numbers that are marked have been written otherwise than this server writes them: what they decode to depends on it. */
async function decodePatched(
  result: Json,
  isMarked: boolean,
  strictErrors: StrictErrors | undefined,
  context: PatchContext,
  asShown: () => Json = () => result,
): Promise<Patched> {
  // Custom objects have no types that a number's text could be wrong for.
  const literals: NumberLiterals | undefined = context.isCustom ? undefined : new Map();
  const patched = isMarked ? withoutMarks(result, literals) : result;
  const strict = isMarked && literals ? Object.assign(strictErrors ?? { errors: [] }, { literals }) : strictErrors;
  const shown = (): string => withNumbersAsWritten(stringifyJson(asShown()));
  if (!isJsonObject(patched)) throw noType(shown, `${jsonKind(patched)} into Go value of type ${GO_TYPE_META}`);
  if (context.kind.schema.custom !== undefined) checkCustomType(patched, shown, context.kind);
  else if (context.isCustom) checkScaleType(patched, shown, context);
  else if (checkType(patched, shown, context) === 'untyped') return decodeUntyped(patched, strictErrors, shown, context);
  const sentEmpty = new EmptyPaths();
  const { schema } = context.kind;
  const decoded = context.isLarge
    ? await decodedLargeOrInvalid(() => decodeInSlices(schema, patched, strict, sentEmpty), shown)
    : decodedOrInvalid(() => decode(schema, patched, strict, sentEmpty), shown);
  const object = keepManagedFieldsReset(schema, patched, decoded);
  settleStrictErrors(strictErrors, shown, context);
  return { patched: object, sentEmpty };
}

/** A patch may not turn an object into one of another kind or version. Custom objects are read whatever they say they are, and validated afterwards. */
function checkCustomType(patched: JsonObject, shown: Shown, own: ClientKind): void {
  const [apiVersion, kind] = (['apiVersion', 'kind'] as const).map((field) => typeField(patched, field, shown)) as [string, string];
  if (!kind) throw invalidPatch(shown, `Object 'Kind' is missing in '${shown()}'`);
  if (!apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) throw invalidPatch(shown, `unexpected GroupVersion string: ${apiVersion}`);
  const errors = new FieldErrors();
  const ownVersion = apiVersionOf(own.group, own.version);
  if (kind !== own.kind) errors.at('kind').invalid(kind, `must be ${own.kind}`);
  if (apiVersion !== ownVersion) errors.at('apiVersion').invalid(apiVersion, `must be ${ownVersion}`);
  const { metadata } = patched;
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  if (errors.list.length > 0) throw invalid({ group: parsed.group, kind }, name, errors.list);
}

/** The same for the scale of a custom resource, which has a type: what is left out is what is expected. */
function checkScaleType(patched: JsonObject, shown: Shown, { kind: own, registered }: PatchContext): void {
  const [apiVersion, kind] = (['apiVersion', 'kind'] as const).map((field) => typeField(patched, field, shown)) as [string, string];
  const parsed = apiVersion === '' ? own : parseApiVersion(apiVersion);
  if (parsed === undefined) throw invalidPatch(shown, `unexpected GroupVersion string: ${apiVersion}`);
  const sent = { group: parsed.group, version: parsed.version, kind: kind || own.kind };
  if (sent.kind === own.kind && sent.group === own.group && sent.version === own.version) return;
  const schema = registered(sent);
  if (schema === undefined)
    throw invalidPatch(
      shown,
      `no kind ${quote(sent.kind)} is registered for version ${quote(apiVersionOf(sent.group, sent.version))} in scheme ${SCALE_SCHEME}`,
    );
  decodedOrInvalid(() => decode(schema, patched), shown);
  throw invalidPatch(shown, `converting (${sent.version}.${sent.kind}) to (${own.version}.${own.kind}): unknown conversion`);
}

/** The same for built-in types. Upstream decodes into its internal type: that one's kind stands in for none, and its version, which knows no JSON, too. */
function checkType(patched: JsonObject, shown: Shown, { kind: own, registered }: PatchContext): 'typed' | 'untyped' {
  const [apiVersion, kind] = (['apiVersion', 'kind'] as const).map((field) => typeField(patched, field, shown));
  if (!apiVersion) {
    if (kind && kind !== own.kind)
      throw invalidPatch(shown, `no kind ${quote(kind)} is registered for the internal version of group ${quote(own.group)} in scheme ${schemeOf(own.group)}`);
    return 'untyped';
  }
  if ((kind || own.kind) === own.kind && apiVersion === apiVersionOf(own.group, own.version)) return 'typed';
  const sent = { kind: kind || own.kind, ...(parseApiVersion(apiVersion) ?? { group: apiVersion, version: '' }) };
  const schema = sent.kind === own.kind ? undefined : registered(sent);
  if (schema === undefined)
    throw invalidPatch(shown, `no kind ${quote(sent.kind)} is registered for version ${quote(apiVersion)} in scheme ${schemeOf(own.group)}`);
  decodedOrInvalid(() => decode(schema, patched), shown);
  throw invalidPatch(shown, unknownConversion(sent, own));
}

function typeField(patched: JsonObject, field: 'apiVersion' | 'kind', shown: Shown): string {
  const value = patched[field] ?? '';
  if (typeof value !== 'string') throw noType(shown, `${jsonKind(value)} into Go struct field .${field} of type string`);
  return value;
}

/** Nothing of it is known. */
function decodeUntyped(patched: JsonObject, strict: StrictErrors | undefined, shown: Shown, context: PatchContext): Patched {
  for (const key of Object.keys(patched).toSorted()) if (key !== 'kind' && key !== 'apiVersion') strict?.errors.push(`unknown field ${quote(key)}`);
  settleStrictErrors(strict, shown, context);
  return { patched: decode(context.kind.schema, {}), sentEmpty: NOTHING_EMPTY };
}

const noType = (shown: Shown, what: string): Error => invalidPatch(shown, `couldn't get version/kind; json parse error: json: cannot unmarshal ${what}`);

function decodedOrInvalid(decodeIt: () => JsonObject, shown: Shown): JsonObject {
  try {
    return decodeIt();
  } catch (error) {
    throw refusal(error, shown);
  }
}

async function decodedLargeOrInvalid(decodeIt: () => JsonObject | Promise<JsonObject>, shown: Shown): Promise<JsonObject> {
  try {
    return await decodeIt();
  } catch (error) {
    throw refusal(error, shown);
  }
}

const refusal = (error: unknown, shown: Shown): unknown => (error instanceof DecodeError ? invalidPatch(shown, error.message) : error);

function settleStrictErrors(strict: StrictErrors | undefined, shown: Shown, { fieldValidation, warn }: PatchContext): void {
  if (strict === undefined || strict.errors.length === 0) return;
  if (fieldValidation === 'Strict') throw invalidPatch(shown, strictDecodingError(strict.errors));
  for (const error of strict.errors) warn(error);
}

/** Upstream refuses a patch's result in the name of no kind at all. */
function invalidPatch(shown: Shown, why: string): Error {
  const errors = new FieldErrors();
  errors.at('patch').invalid(shown(), why);
  return invalid({ group: '', kind: '' }, '', errors.list);
}
