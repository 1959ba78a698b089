import { badRequest, genericInvalid, requestEntityTooLarge } from '../api/errors.ts';
import { jsonKind } from '../encoding/go-format.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { isJsonObject, ownValue, setKey, stringifyJson } from '../encoding/json.ts';
import { type DuplicateKeys, JsonError, MAX_DEPTH, MAX_VALUES } from '../encoding/json-parser.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { LIMITS } from '../util/limits.ts';
import { BudgetExceeded, StepBudget } from '../util/step-budget.ts';
import type { SlicedWork } from '../util/time-slice.ts';
import { parseMarkedJson, withoutMarks } from '../encoding/number-literals.ts';
import { clone } from './clone.ts';
import { DecodeError, decodeType } from './decode.ts';
import type { FieldSchema, ListSchema, ScalarType } from './schema.ts';

/** One step of RFC 6902. A missing value is null, as it is to evanphx/json-patch. */
export interface JsonPatchOperation {
  op?: string | undefined;
  path?: string | undefined;
  from?: string | undefined;
  value?: Json | undefined;
}

const field = (name: string, type: ScalarType): [string, FieldSchema] => [name, { name, type: { type }, required: false, whenEmpty: 'omit', pointer: true }];

/** apiserver's own view of an operation, by which it finds unknown fields. */
const OPERATIONS: ListSchema = {
  type: 'list',
  items: {
    type: 'object',
    name: 'handlers.jsonPatchOp',
    kinds: [],
    fields: new Map([field('op', 'string'), field('path', 'string'), field('from', 'string'), field('value', 'any')]),
  },
};

/**
 * Reads a patch's body. Where `strictErrors` is given (fieldValidation Warn or Strict), unknown and repeated fields of operations are added to it.
 * Throws 400 where the body is no list of operations, 413 where they are too many. The numbers of values are marked (parseMarkedJson): upstream's `test`
 * compares texts.
 */
export function* parseJsonPatch(body: string | Uint8Array, strictErrors?: string[]): SlicedWork<JsonPatchOperation[]> {
  const duplicates: DuplicateKeys = new Map();
  const errors: string[] = [];
  try {
    const parsed = yield* parseMarkedJson(body, duplicates, strictErrors && 'Go struct field jsonPatchOp.value');
    const max = LIMITS.jsonPatchOperations;
    if (Array.isArray(parsed) && parsed.length > max)
      throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${max}, got ${parsed.length}`);
    if (Array.isArray(parsed)) for (const operation of parsed) unmarkNames(operation);
    if (strictErrors === undefined) return readLeniently(parsed);
    const operations = decodeType(OPERATIONS, parsed, { duplicates, errors }) as unknown as JsonPatchOperation[] | null;
    strictErrors.push(...errors.map((error) => `json patch ${error}`));
    return operations ?? [];
  } catch (error) {
    if (!(error instanceof JsonError || error instanceof DecodeError)) throw error;
    throw badRequest(strictErrors === undefined ? error.message : `error decoding patch: ${error.message}`);
  }
}

/** Only values are put into the object. */
function unmarkNames(operation: Json): void {
  if (isJsonObject(operation))
    for (const name of ['op', 'path', 'from']) if (typeof operation[name] === 'string') operation[name] = withoutMarks(operation[name]);
}

/** As evanphx/json-patch reads a patch: what an operation says is looked at when it is applied. */
function readLeniently(parsed: Json): JsonPatchOperation[] {
  const mismatch = (value: Json, type: string): Error => new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type jsonpatch.${type}`);
  if (parsed !== null && !Array.isArray(parsed)) throw mismatch(parsed, 'Patch');
  return (parsed ?? []).map((operation) => {
    if (operation === null) return {};
    if (!isJsonObject(operation)) throw mismatch(operation, 'Operation');
    const text = (name: string): string | undefined => (typeof operation[name] === 'string' ? operation[name] : undefined);
    return { op: text('op'), path: text('path'), from: text('from'), value: ownValue(operation, 'value') };
  });
}

/** The document with the operations applied; the one given stays as it was. Throws the generic 422 where one does not apply, 413 where they ask for too much. */
export function* applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): SlicedWork<Json> {
  const patching = new JsonPatching(document);
  for (const operation of operations) {
    patching.apply(operation);
    // Operations on a long list may take a tenth of a millisecond each.
    yield;
  }
  return patching.result();
}

type Container = JsonObject | Json[];

interface Place {
  container: Container;
  key: string;
}

/** What a step of a path takes: it is unescaped, looked up, and what it leads to is looked up among what may be changed. */
const STEPS_OF_PATH_STEP = 5;
/** An insertion moves the items behind it, some hundred of them in the time of a step. */
const ITEMS_MOVED_IN_A_STEP = 100;

/** Operations applied one after another to one document, which stays as it was. Throws as applyJsonPatch. */
export class JsonPatching {
  root: Json;
  copiedBytes = 0;
  copiedValues = 0;
  readonly budget = new StepBudget(LIMITS.jsonPatchSteps);
  /** Containers that this patching made, and may change. */
  readonly owned = new Set<Container>();

  constructor(document: Json) {
    this.root = document;
  }

  apply(operation: JsonPatchOperation): void {
    try {
      this.applyWithinBudget(operation);
    } catch (error) {
      throw error instanceof BudgetExceeded ? requestEntityTooLarge(`limit is ${error.limit} steps of a JSON patch`) : error;
    }
  }

  applyWithinBudget(operation: JsonPatchOperation): void {
    const path = operation.path ?? this.refuse();
    const value = operation.value ?? null;
    switch (operation.op) {
      case 'add':
        return this.add(path, value);
      case 'remove':
        return this.remove(path);
      case 'replace':
        return this.replace(path, value);
      case 'move': {
        const from = this.source(operation);
        const moved = this.get(from);
        this.remove(from);
        return this.add(path, moved);
      }
      case 'copy':
        return this.add(path, this.copyOf(this.source(operation)));
      case 'test':
        if (!equalJson(this.get(path), value)) this.refuse();
        return;
      default:
        return this.refuse();
    }
  }

  /** The whole document is no source. */
  source({ from }: JsonPatchOperation): string {
    return from === undefined || from === '' ? this.refuse() : from;
  }

  refuse(): never {
    throw genericInvalid();
  }

  add(path: string, value: Json): void {
    const { container, key } = this.open(path);
    if (!Array.isArray(container)) setKey(container, key, value);
    else if (key === '-') container.push(value);
    else this.splice(container, this.index(key, container.length + 1), 0, value);
  }

  remove(path: string): void {
    const { container, key } = this.open(path);
    if (Array.isArray(container)) this.splice(container, this.index(key, container.length), 1);
    else if (Object.hasOwn(container, key)) delete container[key];
    else this.refuse();
  }

  splice(list: Json[], index: number, removed: number, ...added: Json[]): void {
    this.budget.spend(Math.ceil((list.length - index) / ITEMS_MOVED_IN_A_STEP));
    list.splice(index, removed, ...added);
  }

  /** A missing key of an object is no error to evanphx/json-patch. */
  replace(path: string, value: Json): void {
    if (path === '') {
      if (typeof value !== 'object' || value === null) this.refuse();
      this.root = value;
      return;
    }
    const { container, key } = this.open(path);
    if (Array.isArray(container)) container[this.index(key, container.length)] = value;
    else setKey(container, key, value);
  }

  copyOf(from: string): Json {
    const value = this.get(from);
    this.copiedBytes += Buffer.byteLength(stringifyJson(value));
    if (this.copiedBytes > LIMITS.jsonPatchCopiedBytes) this.refuse();
    this.copiedValues += countValues(value);
    if (this.copiedValues > MAX_VALUES) throw requestEntityTooLarge(`limit is ${MAX_VALUES} values`);
    return clone(value);
  }

  /** Null where a key of an object is missing; the steps before it must exist. What is passed on the way shows up as if it were changed: see `result`. */
  get(path: string): Json {
    if (path === '') return this.root;
    const { container, key } = this.open(path);
    return this.child(container, key);
  }

  child(container: Container, step: string): Json {
    return Array.isArray(container) ? container[this.index(step, container.length)]! : (ownValue(container, step) ?? null);
  }

  /** The container that holds the path's last step, made ready to be changed. */
  open(path: string): Place {
    const steps = this.steps(path);
    const key = steps.pop()!;
    let container = this.own(this.root);
    this.root = container;
    for (const step of steps) {
      const owned: Container = this.own(this.child(container, step));
      if (Array.isArray(container)) container[this.index(step, container.length)] = owned;
      else setKey(container, step, owned);
      container = owned;
    }
    return { container, key };
  }

  own(value: Json): Container {
    if (typeof value !== 'object' || value === null) this.refuse();
    if (this.owned.has(value as Container)) return value as Container;
    const copy: Container = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
    this.owned.add(copy);
    return copy;
  }

  /** What stands before the first slash does not count. */
  steps(path: string): string[] {
    const steps = path.split('/').slice(1);
    this.budget.spend(STEPS_OF_PATH_STEP * steps.length);
    if (steps.length === 0) this.refuse();
    return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  }

  /** Below `length`; negative ones count from the end. */
  index(text: string, length: number): number {
    if (!/^[+-]?[0-9]{1,9}$/.test(text)) this.refuse();
    const index = Number(text) < 0 ? Number(text) + length : Number(text);
    if (index < 0 || index >= length) this.refuse();
    return index;
  }

  /** Objects that a path led into come out with their keys sorted, as upstream's messages show them. */
  result(): Json {
    if (this.owned.size === 0) return this.root;
    if (isDeeperThan(MAX_DEPTH, this.root)) this.refuse();
    return this.settle(this.root);
  }

  settle(value: Json): Json {
    if (typeof value !== 'object' || value === null || !this.owned.has(value)) return value;
    if (Array.isArray(value)) return value.map((item) => this.settle(item));
    const sorted: JsonObject = {};
    for (const key of Object.keys(value).toSorted()) setKey(sorted, key, this.settle(value[key]!));
    return sorted;
  }
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (item !== undefined) count += countValues(item);
  return count;
}

/** Without recursion: a patch can put values into each other to a depth that no stack bears. */
function isDeeperThan(maxDepth: number, root: Json): boolean {
  let level: Json[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    const below: Json[] = [];
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue;
      for (const item of Array.isArray(value) ? value : Object.values(value)) if (typeof item === 'object' && item !== null) below.push(item);
    }
    level = below;
  }
  return false;
}
