import { FieldErrors, printValue } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { duplicatePaths, isJsonObject, setKey } from '../../encoding/json.ts';
import type { Json, JsonObject } from '../../encoding/json-types.ts';
import { LIMITS } from '../../util/limits.ts';
import { sortedKeys, withSortedKeys } from '../../encoding/sorted-keys.ts';
import { DecodeError, type StrictErrors } from '../decode.ts';
import { type DecodeRun, KEPT_FROM } from '../decode-run.ts';
import { decodeMetadata } from './decode-metadata.ts';
import type { ObjectSchema } from '../schema.ts';
import type { Structure } from './structure.ts';

/** Upstream tells all of them. */
const MAX_UNKNOWN_FIELDS = 10_000;
const MAX_METADATA_ERRORS = 100;
const TYPE_FIELDS = new Set(['apiVersion', 'kind', 'metadata']);

/** What unknown fields were found where, each kind sorted when all are known. */
interface Unknown {
  inMetadata: string[];
  pruned: string[];
  inEmbedded: string[];
}

/**
 * A custom object as it is stored and sent: keys sorted, unknown fields gone unless its schema keeps them, nulls that may not be gone, metadata and the
 * metadata of embedded resources as their type has them. `keepsNulls`: wrong nulls stay, for validation to tell. Values are otherwise left as clients wrote them; what is wrong with them, validation says. With `run`, others have their turn: see DecodeRun.
 * (…/apiserver/customresource_handler.go unstructuredSchemaCoercer, …/schema/pruning, …/schema/objectmeta). Throws DecodeError.
 */
export function shapeObject(
  structure: Structure,
  metadataSchema: ObjectSchema,
  value: Json,
  strict: StrictErrors | undefined,
  keepsNulls = false,
  run?: DecodeRun,
): JsonObject {
  if (!isJsonObject(value)) return {};
  const makeShaper = (): Shaper => new Shaper(metadataSchema, strict === undefined ? undefined : { inMetadata: [], pruned: [], inEmbedded: [] }, keepsNulls);
  const shaper = run?.keep(makeShaper) ?? makeShaper();
  const shaped = shaper.root(structure, value, run);
  if (strict !== undefined) tell(strict, value, run === undefined ? shaper.unknown! : toldOnce(shaper.unknown!));
  return shaped;
}

/** What was found on the way to where a run ended is found by the next again. */
const toldOnce = ({ inMetadata, pruned, inEmbedded }: Unknown): Unknown => ({
  inMetadata: [...new Set(inMetadata)],
  pruned: [...new Set(pruned)],
  inEmbedded: [...new Set(inEmbedded)],
});

/** Objects in which `settleObject` has found fields that are to be pruned. */
const unpruned = new WeakSet<object>();

/** Whether the object, which `settleObject` made, has fields that are not stored. */
export const hasUnknownFields = (object: object): boolean => unpruned.has(object);

/** The same after code or admission has changed the object, before it is stored: nothing is gone from it, since validating admission sees it all. */
export function settleObject(structure: Structure, metadataSchema: ObjectSchema, value: JsonObject, run?: DecodeRun): JsonObject {
  const makeShaper = (): Shaper => new Shaper(metadataSchema, undefined, true, true);
  const shaper = run?.keep(makeShaper) ?? makeShaper();
  const settled = shaper.root(structure, value, run);
  if (shaper.hasKeptUnknown) unpruned.add(settled);
  return settled;
}

function tell({ errors, duplicates }: StrictErrors, value: JsonObject, { inMetadata, pruned, inEmbedded }: Unknown): void {
  // The reader of the text has a limit (sigs.k8s.io/json); pruning has none.
  if (duplicates !== undefined)
    for (const path of duplicatePaths(value, duplicates).slice(0, LIMITS.strictErrors)) errors.push(`duplicate field ${quote(path)}`);
  for (const path of [...inMetadata, ...pruned.toSorted(), ...inEmbedded.toSorted()]) errors.push(`unknown field "${path}"`);
}

class Shaper {
  readonly unknown: Unknown | undefined;
  readonly #metadataSchema: ObjectSchema;
  readonly #keepsNulls: boolean;
  readonly #keepsUnknown: boolean;
  /** Of fields that are to be pruned. */
  hasKeptUnknown = false;
  readonly #path: (string | number)[] = [];
  #root: Structure | undefined;
  #run: DecodeRun | undefined;

  constructor(metadataSchema: ObjectSchema, unknown: Unknown | undefined, keepsNulls: boolean, keepsUnknown = false) {
    this.#metadataSchema = metadataSchema;
    this.unknown = unknown;
    this.#keepsNulls = keepsNulls;
    this.#keepsUnknown = keepsUnknown;
  }

  /** The type and metadata first. */
  root(structure: Structure, raw: JsonObject, run: DecodeRun | undefined): JsonObject {
    this.#root = structure;
    this.#run = run;
    this.#path.length = 0;
    const { kind, apiVersion, metadata } = raw;
    const object: JsonObject = {};
    if (kind !== undefined) object['kind'] = kind;
    if (apiVersion !== undefined) object['apiVersion'] = apiVersion;
    if (metadata !== undefined) object['metadata'] = this.#metadata(metadata, 'metadata', this.unknown?.inMetadata);
    for (const key of sortedKeys(raw)) {
      const value = raw[key];
      if (value !== undefined && !TYPE_FIELDS.has(key)) this.#field(object, key, value, structure.child(key), structure.keepsUnknownFields);
    }
    return object;
  }

  /** `keeps`: unknown fields stay. */
  #value(structure: Structure | undefined, raw: Json, keeps: boolean): Json {
    if (typeof raw !== 'object' || raw === null) return raw;
    if (Array.isArray(raw)) return this.#list(structure, raw, keeps);
    return this.#object(structure, raw, keeps);
  }

  #list(structure: Structure | undefined, raw: readonly Json[], keeps: boolean): Json[] {
    const items = structure?.items;
    const keepsInItems = keeps || items?.keepsUnknownFields === true;
    const run = raw.length >= KEPT_FROM ? this.#run : undefined;
    const list = run?.itemsOf(raw) ?? [];
    for (let index = list.length; index < raw.length; index++) {
      if (run !== undefined) run.beforeItem();
      this.#path.push(index);
      list.push(items === undefined && keeps ? this.#sorted(raw[index]!) : this.#value(items, raw[index]!, keepsInItems));
      this.#path.pop();
    }
    return list;
  }

  /** What has no structure. */
  #sorted(raw: Json): Json {
    if (this.#run === undefined || typeof raw !== 'object' || raw === null) return withSortedKeys(raw);
    if (Array.isArray(raw)) return this.#list(undefined, raw, true);
    return this.#entries(raw, (object, key, value) => setKey(object, key, this.#sorted(value)));
  }

  #object(structure: Structure | undefined, raw: JsonObject, keeps: boolean): JsonObject {
    const isEmbedded = structure?.isEmbeddedResource === true;
    return this.#entries(raw, (object, key, value) => {
      if (isEmbedded && TYPE_FIELDS.has(key)) setKey(object, key, this.#typeField(key, value));
      else this.#field(object, key, value, structure?.child(key), keeps);
    });
  }

  /** An object to which every entry is added, in the order of the keys. */
  #entries(raw: JsonObject, add: (object: JsonObject, key: string, value: Json) => void): JsonObject {
    const keys = sortedKeys(raw);
    const run = keys.length >= KEPT_FROM ? this.#run : undefined;
    const made = run?.entriesOf(raw, keys) ?? { keys, done: 0, map: {} };
    for (; made.done < keys.length; made.done++) {
      if (run !== undefined) run.beforeItem();
      const key = keys[made.done]!;
      const value = raw[key];
      if (value !== undefined) add(made.map, key, value);
    }
    return made.map;
  }

  #field(object: JsonObject, key: string, value: Json, structure: Structure | undefined, keeps: boolean): void {
    if (structure === undefined) {
      if (keeps) setKey(object, key, this.#sorted(value));
      else if (this.#keepsUnknown) {
        this.hasKeptUnknown = true;
        setKey(object, key, this.#sorted(value));
      } else this.#note(this.unknown?.pruned, key);
      return;
    }
    if (value === null && !structure.isNullable && structure.default === undefined && !this.#keepsNulls) return;
    if (typeof value !== 'object') return setKey(object, key, value);
    this.#path.push(key);
    setKey(object, key, this.#value(structure, value, structure.keepsUnknownFields));
    this.#path.pop();
  }

  /** Of an embedded resource. */
  #typeField(key: string, value: Json): Json {
    if (key === 'metadata') return this.#embeddedMetadata(value);
    if (typeof value !== 'string') throw this.#invalid(key, value, 'must be a string');
    return value;
  }

  #embeddedMetadata(value: Json): Json {
    try {
      return this.#metadata(value, this.unknown ? this.#fieldOf('metadata') : '', this.unknown?.inEmbedded);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw this.#invalid('metadata', value, error.message);
    }
  }

  /** Upstream prints maps with their keys in order. */
  #invalid(key: string, value: Json, why: string): DecodeError {
    return new DecodeError(`${this.#fieldOf(key)}: Invalid value: ${printValue(this.#sorted(value))}: ${why}`);
  }

  #metadata(value: Json, path: string, unknown: string[] | undefined): JsonObject {
    if (unknown === undefined) return decodeMetadata(this.#metadataSchema, value);
    const errors: string[] = [];
    const metadata = decodeMetadata(this.#metadataSchema, value, { errors });
    const found = errors.flatMap((error) => /^unknown field "(.*)"$/.exec(error)?.[1] ?? []);
    // Upstream's decoder reads the keys in their order, which numbers have not here, and tells of the first hundred.
    const own = found.length < MAX_METADATA_ERRORS ? [] : Object.keys(value as JsonObject).filter((key) => !this.#metadataSchema.fields.has(key));
    const told = [...new Set([...own, ...found])].toSorted().slice(0, MAX_METADATA_ERRORS);
    for (const field of told) unknown.push(`${path}.${field}`);
    return metadata;
  }

  #note(list: string[] | undefined, key: string): void {
    if (list !== undefined && list.length < MAX_UNKNOWN_FIELDS) list.push(this.#pathTo(key));
  }

  /** As errors of fields name it, which unlike the paths of pruned fields tells the keys of a map. */
  #fieldOf(key: string): string {
    let structure = this.#root;
    let errors = new FieldErrors();
    for (const step of this.#path) {
      if (typeof step === 'number') errors = errors.index(step);
      else errors = structure?.property(step) ? errors.at(step) : errors.key(step);
      structure = typeof step === 'number' ? structure?.items : structure?.child(step);
    }
    return errors.at(key).path;
  }

  #pathTo(key: string): string {
    let path = '';
    for (const step of [...this.#path, key]) path += typeof step === 'number' ? `[${step}]` : `${path === '' ? '' : '.'}${step}`;
    return path;
  }
}
