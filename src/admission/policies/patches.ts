import { NotJsonError, toJson } from '../../cel/data/json-value.ts';
import { AppliedObjectValue, JsonPatchValue } from '../../cel/library/mutation.ts';
import { CelList, CelMap, type CelValue } from '../../cel/values.ts';
import { type JsonPatchOperation, JsonPatching } from '../../schema/json-patch.ts';
import { mergeObjects } from '../../schema/ownership/merge.ts';
import { fieldElement, showPath, type PathElement } from '../../schema/ownership/path-element.ts';
import { resolvePlan, typePlanOf, type TypePlan } from '../../schema/ownership/type-plan.ts';
import { TypeMismatch, validateApplied } from '../../schema/ownership/validate.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { parseApiVersion } from '../../api/api-object.ts';
import { isApiError } from '../../api/errors.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { TEST_FAILED, patchFailure } from '../webhooks/patch-failure.ts';

/** A mutation that cannot be made; the message is upstream's. */
export class PatchError extends Error {}

/** The object with a list of `JSONPatch` values applied; as it was where a `test` among them finds another value (policy/mutating/patch/json_patch.go). */
export function jsonPatched(object: JsonObject, patch: CelValue): JsonObject {
  if (!(patch instanceof CelList)) throw new PatchError('type mismatch: JSONPatchType.expression should evaluate to array');
  const patching = new JsonPatching(object);
  const operations: JsonPatchOperation[] = [];
  const orFail = <R>(run: () => R): R | undefined => {
    try {
      return run();
    } catch (error) {
      if (!isApiError(error)) throw error;
      const failure = patchFailure(object, operations);
      if (failure.endsWith(TEST_FAILED)) return undefined;
      throw new PatchError(`JSON Patch: ${failure}`);
    }
  };
  for (let index = 0; index < patch.size; index++) {
    const operation = operationOf(patch.get(index));
    operations.push(operation);
    if (orFail(() => (patching.apply(operation), true)) === undefined) return object;
  }
  return (orFail(() => patching.result()) ?? object) as JsonObject;
}

function operationOf(value: CelValue): JsonPatchOperation {
  if (!(value instanceof JsonPatchValue)) throw new PatchError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch');
  const content = value.fields.get('value');
  const from = value.get('from') as string;
  const operation: JsonPatchOperation = { op: value.get('op') as string, path: value.get('path') as string, ...(from !== '' && { from }) };
  return content === undefined ? operation : { ...operation, value: jsonOf(content) };
}

function jsonOf(value: CelValue): Json {
  if (value instanceof AppliedObjectValue) checkTypeNames(value);
  try {
    return toJson(value);
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error;
    throw new PatchError(`JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`);
  }
}

/** The object with all that an `Object` value says of it, as server-side apply merges, but nobody comes to own it (policy/mutating/patch/smd.go). */
export function configurationApplied(object: JsonObject, configuration: CelValue, schema: ObjectSchema | undefined): JsonObject {
  if (!(configuration instanceof AppliedObjectValue)) throw new PatchError('unsupported return type from ApplyConfiguration expression');
  checkTypeNames(configuration);
  const applied = { ...(jsonOf(configuration) as JsonObject), kind: object['kind']!, apiVersion: object['apiVersion']! };
  if (schema === undefined) throw notTyped('patch', `no corresponding type for ${typeOf(applied)}`);
  const plan = typePlanOf(schema);
  demandTyped('patch', () => validateApplied(plan, applied));
  const atomics = [...atomicsIn(plan, applied, [])];
  if (atomics.length > 0)
    throw new PatchError(`error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  // What was converted from another version may have fields that this one does not know.
  if (schema.custom !== undefined) demandTyped('original', () => validateApplied(plan, object, { allowsDuplicates: true }));
  return mergeObjects(plan, object, applied);
}

function demandTyped(which: 'patch' | 'original', validate: () => void): void {
  try {
    validate();
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    throw notTyped(which, error.message);
  }
}

const notTyped = (which: 'patch' | 'original', why: string): PatchError =>
  new PatchError(`error applying patch: failed to convert ${which} object to typed object: ${why}`);

/** As Go prints a GroupVersionKind. */
function typeOf({ apiVersion, kind }: JsonObject): string {
  const { group, version } = parseApiVersion(String(apiVersion)) ?? { group: '', version: '' };
  return `${group}/${version}, Kind=${String(kind)}`;
}

/** What would be replaced as a whole, which a policy that names some of it hardly means. */
function* atomicsIn(plan: TypePlan, value: Json, path: readonly PathElement[]): Iterable<string> {
  if (value === null || typeof value !== 'object') return;
  const resolved = resolvePlan(plan, value);
  if (resolved.kind === 'list' && Array.isArray(value)) {
    if (resolved.relation === 'atomic') yield showPath(path);
    for (const [index, item] of value.entries()) yield* atomicsIn(resolved.items, item, [...path, `i:${index}`]);
  } else if (resolved.kind === 'map' && !Array.isArray(value)) {
    if (resolved.isAtomic) yield showPath(path);
    for (const [key, item] of Object.entries(value)) {
      const field = resolved.byName.get(key);
      if (field && item !== undefined) yield* atomicsIn(field.plan, item, [...path, fieldElement(key)]);
    }
  }
}

/** `Object.spec{selector: Object.spec.wrong{}}` is a slip that nothing else would find (cel/mutation/dynamic CheckTypeNamesMatchFieldPathNames). */
function checkTypeNames(value: AppliedObjectValue): void {
  const errors = [...misnamed(value, value.type.name)];
  if (errors.length > 0) throw new PatchError(`type mismatch: ${errors.join('\n')}`);
}

function* misnamed(value: CelValue, expected: string): Iterable<string> {
  if (value instanceof AppliedObjectValue) {
    const { name } = value.type;
    if (name !== expected)
      yield `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`;
    for (const [field, content] of value.fields) yield* misnamed(content, `${expected}.${field}`);
  } else if (value instanceof CelList && !value.toJson) {
    for (let index = 0; index < value.size; index++) yield* misnamed(value.get(index), expected);
  } else if (value instanceof CelMap && !value.toJson) {
    for (const key of value.keys()) yield* misnamed(value.find(key)!, expected);
  }
}
