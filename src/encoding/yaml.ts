import { type Alias, type Document, type Pair, type ParsedNode, type Scalar, type YAMLMap, type YAMLSeq, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { parseJsonInSteps, setKey } from './json.ts';
import { LIMITS } from '../util/limits.ts';
import {
  type DuplicateKeys,
  JsonError,
  LARGE_OBJECT_KEYS,
  LARGE_OBJECT_KEY_VALUES,
  MAX_DEPTH,
  MAX_VALUES,
  tooManyValues,
  valuesOfDepth,
} from './json-parser.ts';
import { formatGoFloat, goSyntax } from './go-format.ts';
import type { Json, JsonObject } from './json-types.ts';
import { surrogateEscapeIn } from './surrogate-escapes.ts';
import { type SlicedWork, runAtOnce, runInSlices } from '../util/time-slice.ts';
import { YamlError, documentIn, lineOf, parsing, tooDeep } from './yaml-document.ts';
import { textOf } from './yaml-texts.ts';
import { type Resolved, resolvePlain } from './yaml-scalars.ts';

export { YamlError } from './yaml-document.ts';
export { toYaml, toYamlInPieces, toYamlPieces } from './yaml-writer.ts';

const TAG_PREFIX = 'tag:yaml.org,2002:';
/** What aliases may repeat of an anchor's text: as much as a request's body. */
const MAX_ALIASED_CHARACTERS = LIMITS.yamlAliasedCharacters;

/**
 * The first document of a YAML text as JSON, as sigs.k8s.io/yaml converts it: YAML 1.1 with `yes`, `on` and `0777`, merge keys, keys sorted and made
 * strings. Where `duplicates` is given, objects that repeat a key are noted there; the last value wins. Throws YamlError, and 413 beyond LIMITS.yamlTokens
 * or MAX_VALUES. Aliases are expanded as far as go-yaml allows; this module is slow to load and is to be imported when needed.
 */
export function parseYaml(text: string, duplicates?: DuplicateKeys): Json {
  return runAtOnce(anyYamlIn(text, duplicates));
}

/** The same, in slices of the thread's time: for texts of clients, of which a long one takes a tenth of a second. */
export const parseYamlInSlices = (text: string, duplicates?: DuplicateKeys): Promise<Json> => runInSlices(anyYamlIn(text, duplicates));

function* anyYamlIn(text: string, duplicates: DuplicateKeys | undefined): SlicedWork<Json> {
  return (yield* jsonIn(text, duplicates)) ?? (yield* parsing(yamlIn(text, duplicates)));
}

/** JSON is YAML, and far quicker to read as what it is. */
function* jsonIn(text: string, duplicates: DuplicateKeys = new Map()): SlicedWork<Json | undefined> {
  if (!text.startsWith('{')) return undefined;
  refuseSurrogates(text);
  try {
    return yield* parseJsonInSteps(text, duplicates);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    duplicates.clear();
    return undefined;
  }
}

function refuseSurrogates(text: string): void {
  const at = surrogateEscapeIn(text);
  if (at < 0) return;
  const line = lineOf(text, at);
  throw new YamlError(`yaml: ${line > 1 ? `line ${line}: ` : ''}found invalid Unicode character escape code`);
}

function* yamlIn(text: string, duplicates: DuplicateKeys | undefined): SlicedWork<Json> {
  const document: Document.Parsed | undefined = yield* documentIn(text);
  return document?.contents == null ? null : yield* new YamlConverter(duplicates).convert(document.contents);
}

/** Values that are converted before others may have their turn. */
const VALUES_AT_ONCE = 500;

type Node = ParsedNode | Alias | Scalar | YAMLMap | YAMLSeq;

/** Walks the nodes of one document. */
class YamlConverter {
  readonly duplicates: DuplicateKeys | undefined;
  readonly anchors = new Map<string, Node>();
  readonly targets = new Map<Alias, Node>();
  readonly expanding = new Set<Alias>();
  converted = 0;
  dueAt = VALUES_AT_ONCE;
  convertedByAlias = 0;
  /** Of the keys of large objects, and of what is deep. */
  extraValues = 0;
  aliasedCharacters = 0;
  depth = 0;

  constructor(duplicates: DuplicateKeys | undefined) {
    this.duplicates = duplicates;
  }

  *convert(node: Node | null): SlicedWork<Json> {
    if (isLeaf(node)) return this.leaf(node);
    this.count();
    if (isAlias(node)) return yield* this.alias(node);
    this.note(node);
    if (++this.depth > MAX_DEPTH) throw tooDeep(MAX_DEPTH);
    this.extraValues += valuesOfDepth(this.depth);
    const value = isSeq(node) ? yield* this.list(node) : yield* this.map(node as YAMLMap);
    this.depth--;
    return value;
  }

  leaf(node: Scalar | null): Json {
    this.count();
    if (node === null) return null;
    this.note(node);
    return this.scalar(node);
  }

  /** Its anchor, which aliases look for. */
  note(node: Exclude<Node, Alias>): void {
    if (node.anchor !== undefined && this.expanding.size === 0) this.anchors.set(node.anchor, node);
  }

  /** Whether enough was done for others to have their turn. */
  get isDue(): boolean {
    if (this.converted < this.dueAt) return false;
    this.dueAt = this.converted + VALUES_AT_ONCE;
    return true;
  }

  *list({ items }: YAMLSeq): SlicedWork<Json[]> {
    const list: Json[] = [];
    for (const item of items as (Node | null)[]) {
      list.push(isLeaf(item) ? this.leaf(item) : yield* this.convert(item));
      if (this.isDue) yield;
    }
    return list;
  }

  scalar(node: Scalar): Json {
    const value = jsonOf(resolveScalar(node));
    if (this.expanding.size > 0 && typeof value === 'string') this.aliasedCharacters += value.length;
    if (this.aliasedCharacters > MAX_ALIASED_CHARACTERS) throw new YamlError(EXCESSIVE_ALIASING);
    return value;
  }

  /** go-yaml's defence against documents that unfold beyond measure (decode.go, allowedAliasRatio). */
  count(): void {
    if (++this.converted + this.extraValues > MAX_VALUES) throw tooManyValues();
    if (this.expanding.size > 0) this.convertedByAlias++;
    if (this.convertedByAlias > 100 && this.converted > 1000 && this.convertedByAlias / this.converted > allowedAliasRatio(this.converted))
      throw new YamlError(EXCESSIVE_ALIASING);
  }

  *alias(node: Alias): SlicedWork<Json> {
    if (this.expanding.has(node)) throw new YamlError(`yaml: anchor '${node.source}' value contains itself`);
    const target = this.target(node);
    this.expanding.add(node);
    const value = yield* this.convert(target);
    this.expanding.delete(node);
    return value;
  }

  /** Found when first met, since an anchor may be set anew later. */
  target(node: Alias): Node {
    const target = this.targets.get(node) ?? this.anchors.get(node.source);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`);
    this.targets.set(node, target);
    return target;
  }

  *map(node: YAMLMap): SlicedWork<JsonObject> {
    const entries = new Map<string, Json>();
    const written: string[] = [];
    yield* this.enter(entries, written, node);
    if (written.length > VALUES_AT_ONCE) yield;
    const object: JsonObject = {};
    for (const key of [...entries.keys()].toSorted()) setKey(object, key, entries.get(key));
    if (this.duplicates !== undefined && written.length > entries.size) this.duplicates.set(object, { written, replaced: [] });
    return object;
  }

  *enter(entries: Map<string, Json>, written: string[], node: YAMLMap): SlicedWork<void> {
    for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) {
      if (this.isDue) yield;
      if (isMergeKey(key)) {
        yield* this.merge(entries, written, value);
        continue;
      }
      const resolved = isLeaf(key) ? this.key(key) : yield* this.convertKey(key);
      const name = keyName(resolved);
      // The message shows the value.
      if (name === undefined) throw unsupportedKey(resolved, key, yield* this.convert(value));
      if (entries.size >= LARGE_OBJECT_KEYS) this.extraValues += LARGE_OBJECT_KEY_VALUES - 1;
      written.push(name);
      entries.set(name, isLeaf(value) ? this.leaf(value) : yield* this.convert(value));
    }
  }

  key(node: Scalar | null): Resolved {
    this.count();
    if (node === null) return { kind: 'null', value: null };
    this.note(node);
    return resolveScalar(node);
  }

  *convertKey(node: Node): SlicedWork<Resolved> {
    const value = yield* this.convert(node);
    if (typeof value === 'object' && value !== null) throw new YamlError(`yaml: invalid map key: ${goSyntax(value)}`);
    return { kind: typeof value === 'string' ? 'string' : 'int', value };
  }

  /** Sets the keys of another mapping, or of several, the first of which counts most. */
  *merge(entries: Map<string, Json>, written: string[], value: Node | null): SlicedWork<void> {
    const sources = isSeq(value) ? (value.items as Node[]).toReversed() : [value];
    for (const source of sources) {
      const mapping = isAlias(source) ? this.target(source) : source;
      if (!isMap(mapping)) throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
      const merged = (yield* this.convert(source as Node)) as JsonObject;
      for (const key of Object.keys(merged)) {
        written.push(key);
        entries.set(key, merged[key]!);
      }
    }
  }
}

const WORDS_OF_FLOATS: Readonly<Record<string, string>> = { '+Inf': '.inf', '-Inf': '-.inf', NaN: '.nan' };

/** The name that a key becomes in JSON; undefined where it becomes none (sigs.k8s.io/yaml convertToJSONableObject, which writes floats of 32 bits). */
function keyName({ kind, value }: Resolved): string | undefined {
  if (kind === 'null' || (kind === 'int' && isUnsigned(value))) return undefined;
  if (kind !== 'float') return String(value);
  const text = formatGoFloat(Number(value), 32);
  return WORDS_OF_FLOATS[text] ?? text;
}

/** Go has a type of its own for integers beyond those with a sign. */
const isUnsigned = (value: Resolved['value']): boolean => typeof value === 'number' && value >= 2 ** 63;

function unsupportedKey({ kind }: Resolved, key: Node | null, value: Json): YamlError {
  const shown = kind === 'null' ? '%!s(<nil>), key: <nil>' : `uint64, key: 0x${BigInt(textOf(key as Scalar).replaceAll('_', '')).toString(16)}`;
  return new YamlError(`unsupported map key of type: ${shown}, value: ${goSyntax(value)}`);
}

const isLeaf = (node: Node | null): node is Scalar | null => node === null || isScalar(node);

const EXCESSIVE_ALIASING = 'yaml: document contains excessive aliasing';

const isMergeKey = (key: Node | null): boolean => isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.value === '<<';

const ALIAS_RANGE_LOW = 400_000;
const ALIAS_RANGE_HIGH = 4_000_000;

function allowedAliasRatio(converted: number): number {
  if (converted <= ALIAS_RANGE_LOW) return 0.99;
  if (converted >= ALIAS_RANGE_HIGH) return 0.1;
  return 0.99 - 0.89 * ((converted - ALIAS_RANGE_LOW) / (ALIAS_RANGE_HIGH - ALIAS_RANGE_LOW));
}

export function resolveScalar(node: Scalar): Resolved {
  const source = textOf(node);
  const tag = node.tag?.startsWith(TAG_PREFIX) ? node.tag.slice(TAG_PREFIX.length) : node.tag;
  if (tag === undefined) return node.type === 'PLAIN' ? resolvePlain(source) : { kind: 'string', value: source };
  if (tag === 'binary') return { kind: 'string', value: Buffer.from(source, 'base64').toString() };
  const kind = TAG_KINDS[tag];
  if (kind === undefined) return { kind: 'string', value: source };
  const resolved = resolvePlain(source);
  if (resolved.kind !== kind && !(kind === 'float' && resolved.kind === 'int'))
    throw new YamlError(`yaml: cannot decode !!${KIND_TAGS[resolved.kind]} \`${source}\` as a !!${tag}`);
  return resolved;
}

const TAG_KINDS: Record<string, Resolved['kind']> = { bool: 'bool', int: 'int', float: 'float', null: 'null', timestamp: 'timestamp' };
const KIND_TAGS: Record<Resolved['kind'], string> = {
  string: 'str',
  bool: 'bool',
  int: 'int',
  float: 'float',
  null: 'null',
  timestamp: 'timestamp',
  merge: 'merge',
};

function jsonOf(resolved: Resolved): Json {
  if (typeof resolved.value !== 'number' || Number.isFinite(resolved.value)) return resolved.value;
  throw new YamlError(`json: unsupported value: ${Number.isNaN(resolved.value) ? 'NaN' : resolved.value > 0 ? '+Inf' : '-Inf'}`);
}
