import { isUtf8 } from 'node:buffer';
import {
  ARRAY,
  BREAK,
  BYTES,
  CborError,
  FALSE,
  type Head,
  INDEFINITE,
  MAJOR_NAMES,
  MAP,
  NEGATIVE,
  NULL,
  ONE_BYTE,
  PRIMITIVE,
  TAG,
  TAG_BASE16,
  TAG_BASE64,
  TAG_BASE64URL,
  TAG_TIME_EPOCH,
  TAG_TIME_TEXT,
  TEXT,
  TRUE,
  UNSIGNED,
  checkWellFormed,
  exactArgument,
  floatOf,
  headAt,
  notAccepted,
} from './cbor-items.ts';
import { epochTime, taggedTime } from './cbor-time.ts';
import { quote } from '../util/go-quote.ts';
import { setKey } from './json.ts';
import type { Json, JsonObject } from './json-types.ts';

/** A value that does not fit the Go type it is for. The field is told by whoever reads a struct. */
export class CborTypeError extends CborError {
  readonly #major: number;
  readonly #type: string;

  constructor(major: number, goType: string, note?: string) {
    const type = note === undefined ? goType : `${goType} (${note})`;
    super(mismatch(major, 'Go value', type));
    this.#major = major;
    this.#type = type;
  }

  /** `field`: `v1.Deployment.spec`. */
  messageAt(field: string): string {
    return mismatch(this.#major, `Go struct field ${field}`, this.#type);
  }
}

const mismatch = (major: number, place: string, type: string): string => `cbor: cannot unmarshal ${MAJOR_NAMES[major]} into ${place} of type ${type}`;

type LaterEncoding = 'base64url' | 'base64' | 'hex';
const LATER_ENCODINGS: Readonly<Record<number, LaterEncoding>> = { [TAG_BASE64URL]: 'base64url', [TAG_BASE64]: 'base64', [TAG_BASE16]: 'hex' };

/** The one item in the bytes as JSON has it: what upstream decodes it to where no type is given. Throws CborError, or 413. */
export const decodeCbor = (bytes: Buffer): Json => new CborReader(bytes).any();

/** Goes through well-formed bytes item by item. */
export class CborReader {
  readonly bytes: Buffer;
  /** Where the next item begins. */
  at = 0;
  /** What byte strings are to become as text, from the innermost tag that says so; it holds for all that is in the tagged item. */
  laterEncoding: LaterEncoding | undefined;

  /** Throws as `checkWellFormed`. */
  constructor(bytes: Buffer, maxValues?: number) {
    checkWellFormed(bytes, maxValues);
    this.bytes = bytes;
  }

  /** The major type of the next item. */
  get major(): number {
    return this.bytes[this.at]! >> 5;
  }

  /** Goes past the head of the next item. */
  head(): Head {
    const head = headAt(this.bytes, this.at);
    this.at = head.end;
    return head;
  }

  /** Whether a container has no item at `index`. Goes past the break where one ends it. */
  isOver(count: number, index: number): boolean {
    if (count !== Infinity) return index >= count;
    if (this.bytes[this.at] !== BREAK) return false;
    this.at++;
    return true;
  }

  /** That tags which have a meaning enclose what they must, before any of them is gone into. */
  checkTags(): void {
    for (let at = this.at; this.bytes[at]! >> 5 === TAG;) {
      const { argument, end } = headAt(this.bytes, at);
      checkTagContent(argument, this.bytes[end]!);
      at = end;
    }
  }

  /** Reads what a tag encloses, whose head was read. */
  tagged<T>(tag: number, read: () => T): T {
    const outer = this.laterEncoding;
    this.laterEncoding = LATER_ENCODINGS[tag] ?? outer;
    const value = read();
    this.laterEncoding = outer;
    return value;
  }

  any(): Json {
    this.checkTags();
    switch (this.major) {
      case UNSIGNED:
      case NEGATIVE:
        return this.integer();
      case BYTES:
        return this.byteText();
      case TEXT:
        return this.text();
      case ARRAY:
        return this.#array();
      case MAP:
        return this.#map();
      case TAG:
        return this.#tag();
      default:
        return this.primitive();
    }
  }

  /** In the range of int64. */
  integer(): number | bigint {
    const { major } = this;
    const value = this.anyInteger();
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) throw new CborTypeError(major, 'int64', `${value} overflows Go's int64`);
    return value;
  }

  anyInteger(): number | bigint {
    const head = this.head();
    // -1 - 2^53 is not exact.
    if (head.argument < Number.MAX_SAFE_INTEGER) return head.major === UNSIGNED ? head.argument : -1 - head.argument;
    const exact = exactArgument(this.bytes, head);
    return head.major === UNSIGNED ? exact : -1n - exact;
  }

  primitive(): boolean | number | null {
    const head = this.head();
    if (head.info > ONE_BYTE) return floatOf(this.bytes, head);
    if (head.argument === FALSE || head.argument === TRUE) return head.argument === TRUE;
    if (head.argument === NULL) return null;
    throw notAccepted(PRIMITIVE, `simple value ${head.argument} is not recognized`);
  }

  byteString(): Buffer {
    const head = this.head();
    if (head.info !== INDEFINITE) return this.bytes.subarray(this.at, (this.at += head.argument));
    const chunks: Buffer[] = [];
    while (!this.isOver(Infinity, 0)) {
      const { argument } = this.head();
      chunks.push(this.bytes.subarray(this.at, (this.at += argument)));
    }
    return Buffer.concat(chunks);
  }

  /** A byte string as a Go string takes it. Bytes that are no UTF-8, which Go's strings can hold, are replaced here as Go's JSON does when it writes them. */
  byteText(): string {
    return this.byteString().toString(this.laterEncoding ?? 'utf8');
  }

  text(): string {
    const { info, argument } = this.head();
    if (info !== INDEFINITE) return this.#textChunk(argument);
    let text = '';
    while (!this.isOver(Infinity, 0)) text += this.#textChunk(this.head().argument);
    return text;
  }

  #textChunk(length: number): string {
    const bytes = this.bytes.subarray(this.at, (this.at += length));
    if (!isUtf8(bytes)) throw new CborError('cbor: invalid UTF-8 string');
    return bytes.toString('utf8');
  }

  #array(): Json[] {
    const count = countOf(this.head());
    const list: Json[] = [];
    while (!this.isOver(count, list.length)) list.push(this.any());
    return list;
  }

  #map(): JsonObject {
    const count = countOf(this.head());
    const map: JsonObject = {};
    const seen = new Set<string>();
    for (let index = 0; !this.isOver(count, index); index++) {
      const key = this.mapKey();
      setKey(map, key, this.any());
      if (seen.has(key)) throw duplicateKey(quote(key), index);
      seen.add(key);
    }
    return map;
  }

  /** Of a map whose keys are strings in Go: tags are seen through, and null is the empty one. */
  mapKey(): string {
    this.checkTags();
    switch (this.major) {
      case BYTES:
        return this.byteText();
      case TEXT:
        return this.text();
      case TAG:
        return this.tagged(this.head().argument, () => this.mapKey());
      default: {
        const { major } = this;
        if (major === PRIMITIVE && this.primitive() === null) return '';
        throw new CborTypeError(major, 'string');
      }
    }
  }

  #tag(): Json {
    const { argument } = this.head();
    if (argument === TAG_TIME_TEXT) return taggedTime(this.text());
    if (argument === TAG_TIME_EPOCH) return epochTime(this.major === PRIMITIVE ? (this.primitive() as number) : this.integer());
    return this.tagged(argument, () => this.any());
  }

  /** Past the next item, whatever it is. */
  skip(): void {
    const { major, argument, info } = this.head();
    if (major === TAG) return this.skip();
    if (major < BYTES || major === PRIMITIVE) return;
    if (info !== INDEFINITE && major <= TEXT) {
      this.at += argument;
      return;
    }
    const count = info === INDEFINITE ? Infinity : argument * (major === MAP ? 2 : 1);
    for (let index = 0; !this.isOver(count, index); index++) this.skip();
  }
}

/** Of the items in a container, or of the pairs; Infinity where a break ends them. */
export const countOf = ({ info, argument }: Head): number => (info === INDEFINITE ? Infinity : argument);

/** `key` as Go's %#v prints it. */
export const duplicateKey = (key: string, index: number): CborError => new CborError(`cbor: found duplicate map key ${key} at map element index ${index}`);

function checkTagContent(tag: number, initialByte: number): void {
  const major = initialByte >> 5;
  const got = MAJOR_NAMES[major]!;
  if (tag === TAG_TIME_TEXT && major !== TEXT) throw new CborError(`cbor: tag number 0 must be followed by text string, got ${got}`);
  const isNumber = major <= NEGATIVE || (initialByte >= 0xf9 && initialByte <= 0xfb);
  if (tag === TAG_TIME_EPOCH && !isNumber) throw new CborError(`cbor: tag number 1 must be followed by integer or floating-point number, got ${got}`);
}
