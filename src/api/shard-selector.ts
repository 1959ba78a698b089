import { type Wide, fnv1a } from '../encoding/fnv.ts';
import { quote } from '../util/go-quote.ts';
import { LIMITS } from '../util/limits.ts';
import type { ApiObject } from './api-object.ts';

/* Shards of a collection (ShardedListAndWatch, KEP-5866): objects whose uid, or namespace, hashes into one of some ranges. */

export interface ShardSelector {
  matches(object: ApiObject): boolean;
  /** As it was meant: what clients are told that they got. */
  toString(): string;
}

export class ShardSyntaxError extends Error {}

/** A bound may be 2^64: one more than any hash. */
interface ShardRange {
  field: string;
  start: Wide;
  end: Wide;
  text: string;
}

const FIELDS: Readonly<Record<string, (object: ApiObject) => string>> = {
  'object.metadata.uid': ({ metadata }) => metadata.uid ?? '',
  'object.metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/** `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') || …`. Throws ShardSyntaxError, in upstream's words where they are its own. */
export function parseShardSelector(given: string): ShardSelector {
  const text = given.trim();
  if (text === '') throw new ShardSyntaxError('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const ranges = new Parser(tokensOf(text)).parse();
  const field = ranges[0]!.field;
  const other = ranges.find((range) => range.field !== field);
  if (other) throw new ShardSyntaxError(`all shard ranges must use the same field, got ${quote(field)} and ${quote(other.field)}`);
  const shown = ranges.map((range) => range.text).join(' || ');
  return {
    matches(object) {
      const hash = fnv1a(Buffer.from(FIELDS[field]!(object)));
      return ranges.some(({ start, end }) => !isLess(hash, start) && isLess(hash, end));
    },
    toString: () => shown,
  };
}

const isLess = (a: Wide, b: Wide): boolean => a.high < b.high || (a.high === b.high && a.low < b.low);

type Token = { is: 'name' | 'text' | 'sign' | 'end'; value: string };

const TOKEN = /\s*(?:([A-Za-z_]\w*)|'([^'\\\n]*)'|"([^"\\\n]*)"|(\|\||[().,]))/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new ShardSyntaxError(`CEL parse error: Syntax error: token recognition error at: ${quote(text.slice(at).trim().slice(0, 20))}`);
    const [, name, single, double, sign] = match;
    if (name !== undefined) tokens.push({ is: 'name', value: name });
    else if (sign !== undefined) tokens.push({ is: 'sign', value: sign });
    else tokens.push({ is: 'text', value: single ?? double ?? '' });
  }
  return tokens;
}

/** Calls of shardRange, joined by ||, in as many brackets as one likes. */
class Parser {
  readonly #tokens: readonly Token[];
  readonly #ranges: ShardRange[] = [];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): readonly ShardRange[] {
    // What opens must close, and ranges stand between ||: brackets around them change nothing.
    for (;;) {
      while (this.#takes('(')) this.#depth++;
      this.#range();
      while (this.#depth > 0 && this.#takes(')')) this.#depth--;
      if (this.#takes('||')) continue;
      if (this.#next().is !== 'end' || this.#depth > 0) throw this.#unexpected();
      return this.#ranges;
    }
  }

  #range(): void {
    const name = this.#next();
    if (name.is === 'text') throw new ShardSyntaxError('unexpected expression kind 3; expected shardRange() call or || operator');
    if (name.is !== 'name') throw this.#unexpected();
    if (!this.#takes('(')) throw new ShardSyntaxError('unexpected expression kind 4; expected shardRange() call or || operator');
    if (name.value !== 'shardRange') throw new ShardSyntaxError(`unsupported function ${quote(name.value)}; only shardRange() and || are allowed`);
    const args = this.#arguments();
    if (args.length !== 3) throw new ShardSyntaxError(`shardRange() requires exactly 3 arguments, got ${args.length}`);
    if (this.#ranges.length >= LIMITS.shardRanges) throw new ShardSyntaxError(`a shard selector may have at most ${LIMITS.shardRanges} ranges`);
    this.#ranges.push(rangeOf(args));
  }

  #arguments(): { isText: boolean; value: string }[] {
    const args: { isText: boolean; value: string }[] = [];
    if (this.#takes(')')) return args;
    do args.push(this.#argument());
    while (this.#takes(','));
    if (!this.#takes(')')) throw this.#unexpected();
    return args;
  }

  #argument(): { isText: boolean; value: string } {
    const first = this.#next();
    if (first.is === 'text') return { isText: true, value: first.value };
    if (first.is !== 'name') throw this.#unexpected();
    const path = [first.value];
    while (this.#takes('.')) {
      const part = this.#next();
      if (part.is !== 'name') throw this.#unexpected();
      path.push(part.value);
    }
    return { isText: false, value: path.join('.') };
  }

  #next(): Token {
    return this.#tokens[this.#at++] ?? { is: 'end', value: '<EOF>' };
  }

  #takes(sign: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.is !== 'sign' || token.value !== sign) return false;
    this.#at++;
    return true;
  }

  #unexpected(): Error {
    return new ShardSyntaxError(`CEL parse error: Syntax error: mismatched input '${this.#tokens[this.#at - 1]?.value ?? '<EOF>'}'`);
  }
}

function rangeOf([field, start, end]: readonly { isText: boolean; value: string }[]): ShardRange {
  if (field!.isText) throw new ShardSyntaxError('shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 3');
  if (!Object.hasOwn(FIELDS, field!.value))
    throw new ShardSyntaxError(`unsupported field path ${quote(field!.value)}; supported: object.metadata.uid, object.metadata.namespace`);
  const [from, to] = [boundOf(start!, 'hexStart'), boundOf(end!, 'hexEnd')];
  if (!isLess(from, to)) throw new ShardSyntaxError(`shard range start ${start!.value} must be less than end ${end!.value}`);
  return { field: field!.value, start: from, end: to, text: `shardRange(${field!.value}, '${start!.value}', '${end!.value}')` };
}

const DIGITS = 16;
const WHOLE = '0x10000000000000000';

function boundOf({ isText, value }: { isText: boolean; value: string }, name: string): Wide {
  const refused = (why: string): Error => new ShardSyntaxError(`${name}${why}`);
  if (!isText) throw refused(` must be a string literal (e.g. '0xff'), got expression kind 4`);
  if (!value.startsWith('0x')) throw refused(` must have '0x' prefix, got ${quote(value)}`);
  const hex = value.slice(2);
  if (hex === '') throw refused(`: hex value is required after '0x'`);
  if (hex.length > DIGITS + 1) throw refused(`: hex value too long (${hex.length} chars, max ${DIGITS + 1}): ${quote(hex)}`);
  const odd = /[^0-9a-f]/u.exec(hex)?.[0];
  if (odd !== undefined) throw refused(`: invalid hex character ${quote(odd)} in ${quote(value)}`);
  if (hex.length === DIGITS + 1 && value !== WHOLE) throw refused(`: 17-digit hex value must be '${WHOLE}' (2^64), got ${quote(value)}`);
  if (hex.length < DIGITS)
    throw refused(` must be a 0x-prefixed 16-digit hex value, got ${quote(value)} (did you mean ${quote(`0x${hex.padStart(DIGITS, '0')}`)}?)`);
  return { high: Number.parseInt(hex.slice(0, -8), 16), low: Number.parseInt(hex.slice(-8), 16) };
}
