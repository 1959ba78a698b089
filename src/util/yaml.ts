import {
  type Alias,
  Composer,
  type Document,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from 'yaml';
import { requestEntityTooLarge } from './errors.ts';
import { parseJson, setKey } from './json.ts';
import { LIMITS } from './limits.ts';
import { type DuplicateKeys, JsonError, LARGE_OBJECT_KEYS, LARGE_OBJECT_KEY_VALUES, MAX_DEPTH, MAX_VALUES, tooManyValues } from './json-parser.ts';
import type { Json, JsonObject } from './json-types.ts';
import { surrogateEscapeIn } from './surrogate-escapes.ts';
import { TimeSlice } from './time-slice.ts';
import { type Resolved, resolvePlain } from './yaml-scalars.ts';

export { toYaml, toYamlInPieces, toYamlPieces } from './yaml-writer.ts';

/** Text that is no YAML, or that has no JSON form. Worded as go-yaml words it, where the parser's finding has a counterpart there. */
export class YamlError extends Error {}

const TAG_PREFIX = 'tag:yaml.org,2002:';
/** A line of `key: value` has seven or eight tokens, a literal block one, however long. The parser takes 2 µs for each, and nobody is served meanwhile. */
const MAX_TOKENS = LIMITS.yamlTokens;
/** What aliases may repeat of an anchor's text: as much as a request's body. */
const MAX_ALIASED_CHARACTERS = LIMITS.yamlAliasedCharacters;

/**
 * The first document of a YAML text as JSON, as sigs.k8s.io/yaml converts it: YAML 1.1 with `yes`, `on` and `0777`, merge keys, keys sorted and made
 * strings. Where `duplicates` is given, objects that repeat a key are noted there; the last value wins. Throws YamlError, and 413 beyond MAX_TOKENS or
 * MAX_VALUES. Aliases are expanded as far as go-yaml allows; this module is slow to load and is to be imported when needed.
 */
export function parseYaml(text: string, duplicates?: DuplicateKeys): Json {
  return jsonIn(text, duplicates) ?? parseYamlOnly(text, duplicates);
}

/** JSON is YAML, and far quicker to read as what it is. */
function jsonIn(text: string, duplicates: DuplicateKeys = new Map()): Json | undefined {
  if (!text.startsWith('{')) return undefined;
  refuseSurrogates(text);
  try {
    return parseJson(text, duplicates);
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

/** The same, in slices of the thread's time: for texts of clients, of which a long one takes a tenth of a second. */
export async function parseYamlInSlices(text: string, duplicates?: DuplicateKeys): Promise<Json> {
  const json = jsonIn(text, duplicates);
  if (json !== undefined) return json;
  const document = await documentInSlices(text);
  return parsing(() => jsonOfDocument(document, duplicates));
}

const parseYamlOnly = (text: string, duplicates: DuplicateKeys | undefined): Json => parsing(() => jsonOfDocument(documentOf(text), duplicates));

const jsonOfDocument = (document: Document.Parsed | undefined, duplicates: DuplicateKeys | undefined): Json =>
  document?.contents == null ? null : new YamlConverter(duplicates).convert(document.contents);

function parsing<T>(parse: () => T): T {
  const { stackTraceLimit } = Error;
  try {
    // The parser makes an error of every comma too many; their stacks would take most of its time.
    Error.stackTraceLimit = 0;
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const newComposer = (): Composer<ParsedNode> =>
  new Composer({ version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, strict: true, prettyErrors: false, logLevel: 'silent' });

/** The first document of a text, as the parser has it. Throws YamlError, and 413 beyond MAX_TOKENS. */
function documentOf(text: string): Document.Parsed | undefined {
  const composer = newComposer();
  for (const token of tokensOf(text)) {
    if (token === undefined) continue;
    for (const document of composer.next(token)) return checked(document, text);
  }
  for (const document of composer.end()) return checked(document, text);
  return undefined;
}

/** The same, in slices. What the composer does with a token, which may be a whole document, has a turn of its own. */
export async function documentInSlices(text: string): Promise<Document.Parsed | undefined> {
  const composer = newComposer();
  const slice = new TimeSlice();
  const documentsIn = (documents: Iterable<ComposedDocument>): Document.Parsed | undefined =>
    parsing(() => {
      for (const document of documents) return checked(document, text);
      return undefined;
    });
  for (const token of tokensOf(text)) {
    if (slice.isSpent) await slice.next();
    const document = token === undefined ? undefined : documentsIn(composer.next(token));
    if (document !== undefined) {
      await slice.next();
      return document;
    }
  }
  return documentsIn(composer.end());
}

type ComposedDocument = ReturnType<Composer['next']> extends Iterable<infer Composed> ? Composed : never;

function checked(document: ComposedDocument, text: string): Document.Parsed {
  const error = document.errors[0];
  if (error !== undefined) throw new YamlError(`yaml: line ${lineOf(text, error.pos[0])}: ${WORDING[error.code] ?? error.message}`);
  return document as Document.Parsed;
}

type Token = ReturnType<Parser['parse']> extends Iterable<infer Parsed> ? Parsed : never;

/**
 * As `Parser.parse`, counting (CVE-2019-11254), and only up to the first token that has no place: it is the error that is told, and each of thousands behind
 * it would cost as much (64 KB of `}` took 200 ms). Undefined is a step that made no token.
 */
function* tokensOf(text: string): Iterable<Token | undefined> {
  const parser = new Parser();
  let count = 0;
  let hasFailed = false;
  try {
    for (const lexeme of new Lexer().lex(text)) {
      if (++count > MAX_TOKENS) throw requestEntityTooLarge(`limit is ${MAX_TOKENS} YAML tokens`);
      for (const token of parser.next(lexeme)) {
        yield token;
        hasFailed ||= token.type === 'error';
      }
      if (hasFailed) break;
      yield undefined;
    }
    yield* parser.end();
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : error;
  }
}

/** The parser calls itself for what is inside of something else, until the stack is full. */
const tooDeep = (): YamlError => new YamlError(`yaml: exceeded max depth of ${MAX_DEPTH}`);

/** libyaml's words for what the parser found. */
const WORDING: Record<string, string> = {
  BLOCK_AS_IMPLICIT_KEY: 'mapping values are not allowed in this context',
  TAB_AS_INDENT: 'found character that cannot start any token',
  MISSING_CHAR: "could not find expected ':'",
  BAD_INDENT: 'did not find expected key',
  MULTILINE_IMPLICIT_KEY: "could not find expected ':'",
  BAD_ALIAS: 'did not find expected alphabetic or numeric character',
  UNEXPECTED_TOKEN: 'did not find expected node content',
  RESOURCE_EXHAUSTION: 'exceeded max depth',
};

/** From 1. */
const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

type Node = ParsedNode | Alias | Scalar | YAMLMap | YAMLSeq;

/** Walks the nodes of one document. */
class YamlConverter {
  readonly duplicates: DuplicateKeys | undefined;
  readonly anchors = new Map<string, Node>();
  readonly targets = new Map<Alias, Node>();
  readonly expanding = new Set<Alias>();
  converted = 0;
  convertedByAlias = 0;
  /** Of the keys of large objects. */
  extraValues = 0;
  aliasedCharacters = 0;
  depth = 0;

  constructor(duplicates: DuplicateKeys | undefined) {
    this.duplicates = duplicates;
  }

  convert(node: Node | null): Json {
    this.count();
    if (node === null) return null;
    if (isAlias(node)) return this.alias(node);
    if (node.anchor !== undefined && this.expanding.size === 0) this.anchors.set(node.anchor, node as Node);
    if (isScalar(node)) return this.scalar(node);
    if (++this.depth > MAX_DEPTH) throw new YamlError(`yaml: exceeded max depth of ${MAX_DEPTH}`);
    const value = isSeq(node) ? node.items.map((item) => this.convert(item as Node | null)) : this.map(node as YAMLMap);
    this.depth--;
    return value;
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

  alias(node: Alias): Json {
    if (this.expanding.has(node)) throw new YamlError(`yaml: anchor '${node.source}' value contains itself`);
    const target = this.target(node);
    this.expanding.add(node);
    const value = this.convert(target);
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

  map(node: YAMLMap): JsonObject {
    const entries = new Map<string, Json>();
    const written: string[] = [];
    this.enter(entries, written, node);
    const object: JsonObject = {};
    for (const key of [...entries.keys()].toSorted()) setKey(object, key, entries.get(key));
    if (this.duplicates !== undefined && written.length > entries.size) this.duplicates.set(object, { written, replaced: [] });
    return object;
  }

  enter(entries: Map<string, Json>, written: string[], node: YAMLMap): void {
    for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) {
      if (isMergeKey(key)) {
        this.merge(entries, written, value);
        continue;
      }
      const name = this.key(key);
      if (entries.size >= LARGE_OBJECT_KEYS) this.extraValues += LARGE_OBJECT_KEY_VALUES - 1;
      written.push(name);
      entries.set(name, this.convert(value));
    }
  }

  /** Sets the keys of another mapping, or of several, the first of which counts most. */
  merge(entries: Map<string, Json>, written: string[], value: Node | null): void {
    const sources = isSeq(value) ? (value.items as Node[]).toReversed() : [value];
    for (const source of sources) {
      const mapping = isAlias(source) ? this.target(source) : source;
      if (!isMap(mapping)) throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
      const merged = this.convert(source as Node) as JsonObject;
      for (const key of Object.keys(merged)) {
        written.push(key);
        entries.set(key, merged[key]!);
      }
    }
  }

  key(node: Node | null): string {
    const value = this.convert(node);
    if (typeof value === 'object') throw new YamlError(value === null ? 'unsupported map key of type: %!s(<nil>), key: <nil>' : 'yaml: invalid map key');
    return String(value);
  }
}

const EXCESSIVE_ALIASING = 'yaml: document contains excessive aliasing';

const isMergeKey = (key: Node | null): boolean => isScalar(key) && key.type === 'PLAIN' && key.tag === undefined && key.value === '<<';

const ALIAS_RANGE_LOW = 400_000;
const ALIAS_RANGE_HIGH = 4_000_000;

function allowedAliasRatio(converted: number): number {
  if (converted <= ALIAS_RANGE_LOW) return 0.99;
  if (converted >= ALIAS_RANGE_HIGH) return 0.1;
  return 0.99 - 0.89 * ((converted - ALIAS_RANGE_LOW) / (ALIAS_RANGE_HIGH - ALIAS_RANGE_LOW));
}

function resolveScalar(node: Scalar): Resolved {
  const source = String(node.value ?? '');
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
