import { type CST, Composer, type Document, Lexer, type ParsedNode, Parser, type YAMLMap, type YAMLParseError, type YAMLSeq, isMap, isPair, isSeq } from 'yaml';
import { InputTooLarge } from './json-parser.ts';
import { LongTexts, refuseLongPlainText } from './yaml-texts.ts';
import { LIMITS } from '../util/limits.ts';
import type { SlicedWork } from '../util/time-slice.ts';

/*
 * The parser, and what it makes of a text. Its composer makes the nodes of a whole document in one call, which for some thousand lines takes longer than a
 * turn of the event loop may. So large collections are emptied before the document is composed, and their items are composed apart, some at a time, as if
 * they were documents of their own.
 */

/** Text that is no YAML, or that has no JSON form. The message is go-yaml's, where it has one for what the parser found. */
export class YamlError extends Error {}

/** A line of `key: value` has seven or eight tokens, a literal block one, however long. The parser takes 2 µs for each. */
const MAX_TOKENS = LIMITS.yamlTokens;

/** Runs the parser's steps; what it throws is what a client is told. */
export function* parsing<T>(work: SlicedWork<T>): SlicedWork<T> {
  for (;;) {
    const { done, value } = step(work);
    if (done) return value;
    yield;
  }
}

function step<T>(work: SlicedWork<T>): IteratorResult<void, T> {
  const { stackTraceLimit } = Error;
  try {
    // The parser makes an error of every comma too many; their stacks would take most of its time.
    Error.stackTraceLimit = 0;
    return work.next();
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(MAX_COLLECTIONS) : error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The parser calls itself for what is inside of something else, until the stack is full. */
export const tooDeep = (max: number): YamlError => new YamlError(`yaml: exceeded max depth of ${max}`);

/** From 1. */
export const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

/** The first document of a text, as the parser has it. Throws YamlError, and 413 beyond MAX_TOKENS. */
export function* documentIn(text: string): SlicedWork<Document.Parsed | undefined> {
  refuseLongPlainText(text);
  const composer = newComposer();
  const apart = new ApartCollections();
  for (const token of tokensOf(text, apart.texts)) {
    yield;
    if (token === undefined) continue;
    if (token.type === 'directive') apart.directives.push(token);
    if (token.type === 'document') yield* apart.empty(token.value);
    for (const document of composer.next(token)) return yield* whole(document, apart, text);
  }
  for (const document of composer.end()) return yield* whole(document, apart, text);
  return undefined;
}

type ComposedDocument = ReturnType<Composer['next']> extends Iterable<infer Composed> ? Composed : never;

function* whole(document: ComposedDocument, apart: ApartCollections, text: string): SlicedWork<Document.Parsed> {
  const found = yield* apart.fill(document.contents);
  // The composer finds them in their order, but what was composed apart is later than all others.
  const [first] = found.length === 0 ? document.errors : [...document.errors, ...found].toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (first !== undefined) throw new YamlError(`yaml: line ${lineOf(text, first.pos[0])}: ${WORDING[first.code] ?? first.message}`);
  return document as Document.Parsed;
}

/** The tokens' own nodes are how a collection that was composed apart is found again. */
const newComposer = (): Composer<ParsedNode> =>
  new Composer({
    version: '1.1',
    schema: 'failsafe',
    merge: false,
    uniqueKeys: false,
    strict: true,
    prettyErrors: false,
    logLevel: 'silent',
    keepSourceTokens: true,
  });

/**
 * Collections that may be inside of each other. Composing calls itself for each, and V8 ends the whole process when it has to compile a regular expression with
 * no room left on the stack: 4 KB of `[` did that. From some 880 levels on there is none.
 */
const MAX_COLLECTIONS = LIMITS.yamlDepth;

/**
 * As `Parser.parse`, counting (CVE-2019-11254), and only up to the first token that has no place: it is the error that is told, and each of thousands behind
 * it would cost as much (64 KB of `}` took 200 ms). Undefined is a step that made no token.
 */
function* tokensOf(text: string, texts: LongTexts): Iterable<CST.Token | undefined> {
  const parser = new Parser();
  let count = 0;
  let hasFailed = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1 + texts.tokensOf(lexeme);
    if (count > MAX_TOKENS) throw new InputTooLarge(`limit is ${MAX_TOKENS} YAML tokens`);
    for (const token of parser.next(lexeme)) {
      yield token;
      hasFailed ||= token.type === 'error';
    }
    if (parser.stack.length > MAX_COLLECTIONS) throw tooDeep(MAX_COLLECTIONS);
    if (hasFailed) break;
    yield undefined;
  }
  yield* parser.end();
}

type CollectionToken = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
type ItemToken = CollectionToken['items'][number];

/** Nodes that are composed at once. They take 2 µs each. */
const NODES_AT_ONCE = 1_000;

const COLLECTIONS = new Set<string | undefined>(['block-map', 'block-seq', 'flow-collection']);
const isCollection = (token: CST.Token | null | undefined): token is CollectionToken => COLLECTIONS.has(token?.type);

/** Collections of a document that is too large to be composed at once. */
class ApartCollections {
  /** Those of the document: they tell what its tags stand for. */
  readonly directives: CST.Directive[] = [];
  readonly texts = new LongTexts();
  readonly #pieces = new Map<unknown, ItemToken[][]>();

  /** Takes the items of what is large. Answers with how many nodes are left of it. */
  *empty(token: CST.Token | null | undefined): SlicedWork<number> {
    if (!isCollection(token)) return this.#leaf(token);
    const pieces: ItemToken[][] = [];
    let nodes = 0;
    let nodesOfPiece = NODES_AT_ONCE;
    for (const item of token.items) {
      if (nodesOfPiece >= NODES_AT_ONCE) {
        pieces.push([]);
        nodesOfPiece = 0;
        yield;
      }
      const nodesOfKey = isCollection(item.key) ? yield* this.empty(item.key) : this.#leaf(item.key);
      const nodesOfItem = nodesOfKey + (isCollection(item.value) ? yield* this.empty(item.value) : this.#leaf(item.value));
      pieces.at(-1)!.push(item);
      nodes += nodesOfItem;
      nodesOfPiece += nodesOfItem;
    }
    if (nodes < NODES_AT_ONCE) return nodes;
    this.#pieces.set(token, pieces);
    token.items = token.type === 'flow-collection' ? [] : [{ start: [emptyAt(endOf(token))] }];
    return 1;
  }

  #leaf(token: CST.Token | null | undefined): number {
    if (token?.type === 'double-quoted-scalar') this.texts.shorten(token);
    return 1;
  }

  /** Puts the nodes of all that was taken where they belong, and answers with the errors that were found on the way. */
  *fill(contents: unknown): SlicedWork<YAMLParseError[]> {
    const errors: YAMLParseError[] = [];
    const emptied = this.#pieces.size === 0 ? [] : this.#emptiedIn(contents);
    for (let node = emptied.pop(); node !== undefined; node = emptied.pop()) {
      const token = node.srcToken as CollectionToken;
      for (const { before, items: itemsOfPiece, after } of surrounded(token, this.#pieces.get(token)!)) {
        yield;
        const offset = offsetOf(itemsOfPiece[0]!) ?? token.offset;
        const composed = this.#compose({ ...token, offset, items: [...before, ...itemsOfPiece, ...after], ...ended(token) } as CollectionToken);
        const own = composed.items.slice(before.length, composed.items.length - after.length);
        for (const item of own) (node.items as unknown[]).push(item);
        errors.push(...composed.errors);
        emptied.push(...this.#emptiedIn(own));
      }
    }
    return errors;
  }

  #compose(value: CollectionToken): { items: readonly unknown[]; errors: readonly YAMLParseError[] } {
    const composer = newComposer();
    const { offset } = value;
    const start: CST.SourceToken[] =
      this.directives.length === 0
        ? []
        : [
            { type: 'doc-start', offset, indent: 0, source: '---' },
            { type: 'newline', offset, indent: 0, source: '\n' },
          ];
    const tokens: CST.Token[] = [...this.directives, { type: 'document', offset, start, value }];
    for (const { contents, errors } of composer.compose(tokens)) return { items: (contents as YAMLMap | YAMLSeq).items, errors };
    return { items: [], errors: [] };
  }

  /** Of nodes, pairs and lists of them. */
  #emptiedIn(node: unknown, found: (YAMLMap | YAMLSeq)[] = []): (YAMLMap | YAMLSeq)[] {
    if (Array.isArray(node)) for (const item of node) this.#emptiedIn(item, found);
    else if (isPair(node)) this.#emptiedIn([node.key, node.value], found);
    else if (isMap(node) || isSeq(node)) {
      if (this.#pieces.has(node.srcToken)) found.push(node);
      else this.#emptiedIn(node.items, found);
    }
    return found;
  }
}

/** Whether a flow collection has its end is found where it stands, not in its pieces. */
const ended = (token: CollectionToken): { end?: CST.SourceToken[] } =>
  token.type === 'flow-collection' && token.start.source === '{'
    ? { end: [{ type: 'flow-map-end', offset: token.offset, indent: 0, source: '}' }] }
    : token.type === 'flow-collection'
      ? { end: [{ type: 'flow-seq-end', offset: token.offset, indent: 0, source: ']' }] }
      : {};

const emptyAt = (offset: number): CST.SourceToken => ({ type: 'space', offset, indent: 0, source: '' });

const lastOf = (tokens: readonly CST.SourceToken[] | undefined): CST.SourceToken | undefined => tokens?.at(-1);

/** Where the text of an item begins; undefined for one of no text. */
const offsetOf = ({ start, key, sep, value }: ItemToken): number | undefined => (start[0] ?? key ?? sep?.[0] ?? value)?.offset;

/** Where a token's text ends: that is where the composer goes on, and what it measures keys from. */
function endOf(token: CST.Token): number {
  if (isCollection(token) && token.type !== 'flow-collection') {
    const { start, key, sep, value } = token.items.at(-1) ?? { start: [] };
    const last = value ?? lastOf(sep) ?? key ?? lastOf(start);
    return last ? endOf(last) : token.offset;
  }
  const end = 'end' in token ? lastOf(token.end) : undefined;
  if (end) return end.offset + end.source.length;
  return token.offset + ('source' in token ? token.source.length : 0);
}

interface Piece {
  before: readonly ItemToken[];
  items: readonly ItemToken[];
  after: readonly ItemToken[];
}

/** Items of a flow collection have their commas with them, and the composer demands that none stands before the first or is followed by nothing. */
function surrounded(token: CollectionToken, pieces: readonly ItemToken[][]): Piece[] {
  if (token.type !== 'flow-collection') return pieces.map((items) => ({ before: [], items, after: [] }));
  const { offset } = token;
  const scalar: CST.FlowScalar = { type: 'scalar', offset, indent: 0, source: '-' };
  const itemAfter = (...start: CST.SourceToken[]): ItemToken => (token.start.source === '{' ? { start, key: scalar, sep: [] } : { start, value: scalar });
  return pieces.map((items, index) => ({
    before: index === 0 ? [] : [itemAfter()],
    items,
    after: index === pieces.length - 1 ? [] : [itemAfter({ type: 'comma', offset, indent: 0, source: ',' })],
  }));
}

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
