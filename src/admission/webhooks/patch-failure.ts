import { type JsonPatchOperation, JsonPatching, applyJsonPatch } from '../../schema/json-patch.ts';
import { isApiError } from '../../api/errors.ts';
import { quote } from '../../util/go-quote.ts';
import { runAtOnce } from '../../util/time-slice.ts';
import { isJsonObject, ownValue } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';

const MISSING = 'missing value';
/** How the failure of a test ends that found another value than was expected. */
export const TEST_FAILED = ': test failed';

/** Why a patch does not apply to a document, in the words of evanphx/json-patch, which is what upstream applies them with. */
export function patchFailure(document: Json, operations: readonly JsonPatchOperation[]): string {
  const patching = new JsonPatching(document);
  for (const [index, operation] of operations.entries()) {
    try {
      patching.apply(operation);
    } catch (error) {
      // A part of the operation may have been done: what it failed on is made anew.
      return isApiError(error, 'RequestEntityTooLarge') ? error.message : failureOf(runAtOnce(applyJsonPatch(document, operations.slice(0, index))), operation);
    }
  }
  return 'the patch makes more of the object than may be made';
}

function failureOf(document: Json, operation: JsonPatchOperation): string {
  const { op = 'unknown', path } = operation;
  switch (op) {
    case 'add':
    case 'remove':
      return path === undefined ? `${op} operation failed to decode path: ${MISSING}` : changeFailure(document, op, path);
    case 'replace':
      return path === undefined ? unnamed(op) : replaceFailure(document, path);
    case 'test':
      return path === undefined ? unnamed(op) : testFailure(document, path);
    case 'move':
    case 'copy':
      return transferFailure(document, op, operation);
    default:
      return `Unexpected kind: ${op}`;
  }
}

const unnamed = (op: string): string => `${op} operation failed to decode path: operation missing path field: ${MISSING}`;

function changeFailure(document: Json, op: 'add' | 'remove', path: string): string {
  const place = placeOf(document, path);
  if (!place) return `${op} operation does not apply: doc is missing path: "${path}": ${MISSING}`;
  return `error in ${op} for path: '${path}': ${op === 'add' ? additionProblem(place) : removalProblem(place)}`;
}

function replaceFailure(document: Json, path: string): string {
  if (path === '') return 'replace operation value must be object or array: %!w(<nil>)';
  const what = placeOf(document, path) ? 'key' : 'path';
  return `replace operation does not apply: doc is missing ${what}: ${path}: ${MISSING}`;
}

function testFailure(document: Json, path: string): string {
  const place = path === '' ? undefined : placeOf(document, path);
  if (path !== '' && !place) return `test operation does not apply: is missing path: ${path}: ${MISSING}`;
  const problem = place && indexProblem(place);
  return problem === undefined ? `testing value ${path} failed${TEST_FAILED}` : `error in test for path: '${path}': ${problem}`;
}

function transferFailure(document: Json, op: 'move' | 'copy', { from, path }: JsonPatchOperation): string {
  if (from === undefined) return `${op} operation failed to decode from: operation, missing from field: ${MISSING}`;
  const source = placeOf(document, from);
  if (!source) return `${op} operation does not apply: doc is missing from path: ${from}: ${MISSING}`;
  const problem = op === 'move' ? removalProblem(source) : indexProblem(source);
  if (problem !== undefined) return op === 'move' ? `error in move for path: '${source.key}': ${problem}` : `error in copy for from: '${from}': ${problem}`;
  if (path === undefined) return op === 'move' ? unnamed(op) : `copy operation failed to decode path: ${MISSING}`;
  const target = placeOf(document, path);
  if (!target) return `${op} operation does not apply: doc is missing destination path: ${path}: ${MISSING}`;
  return `${op === 'move' ? `error in move for path: '${path}'` : 'error while adding value during copy'}: ${additionProblem(target)}`;
}

interface Place {
  container: JsonObject | Json[];
  key: string;
}

/** The object or list that holds a path's last step. */
function placeOf(document: Json, path: string): Place | undefined {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = steps.pop();
  let container: Json | undefined = document;
  for (const step of steps) {
    if (Array.isArray(container)) container = /^\d+$/.test(step) ? container[Number(step)] : undefined;
    else container = isJsonObject(container) ? ownValue(container, step) : undefined;
  }
  return key !== undefined && (Array.isArray(container) || isJsonObject(container)) ? { container, key } : undefined;
}

const additionProblem = ({ container, key }: Place): string | undefined => {
  if (!Array.isArray(container)) return undefined;
  return isInteger(key) ? outside(key) : `value was not a proper array index: '${key}': ${notInteger(key)}`;
};

const removalProblem = (place: Place): string | undefined => {
  if (Array.isArray(place.container)) return indexProblem(place);
  return Object.hasOwn(place.container, place.key) ? undefined : `Unable to remove nonexistent key: ${place.key}: ${MISSING}`;
};

function indexProblem({ container, key }: Place): string | undefined {
  if (!Array.isArray(container)) return undefined;
  if (!isInteger(key)) return notInteger(key);
  const index = Number(key);
  return index >= container.length || index < -container.length ? outside(key) : undefined;
}

const isInteger = (key: string): boolean => /^[+-]?\d{1,18}$/.test(key);
const notInteger = (key: string): string => `strconv.Atoi: parsing ${quote(key)}: invalid syntax`;
const outside = (key: string): string => `Unable to access invalid index: ${Number(key)}: invalid index referenced`;
