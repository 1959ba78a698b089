import { deflateRaw, inflateRawSync } from 'node:zlib';
import { ByteReader, ByteWriter } from '../../encoding/bytes.ts';

/** One version of one object, as it is kept: the whole bytes, or what has changed in them. */
export interface ChangeRecord {
  /** Of the write. */
  revision: number;
  timeMs: number;
  objectId: number;
  /** `initial`: not a change, but what was there before the object's first one that is kept; it stands right before that. */
  type: 'put' | 'delete' | 'initial';
  /** The payload is the version itself; else it is a delta to the one before. */
  isWhole: boolean;
  /** The payload is encrypted. */
  isEncrypted: boolean;
  /** Of the version before, 0 where there was none; of an initial one, its own. */
  previousRevision: number;
  /** As registry/write-author.ts has it; '' where it is not known. */
  author: string;
  auditId: string;
  payload: Buffer;
}

/** The same to be written: who made it is told by the annotation of the change. */
export interface NewRecord extends Omit<ChangeRecord, 'author' | 'auditId'> {
  annotation: Buffer | undefined;
}

/*
 * A block of records, compressed: its authors, each once; then the records, of which numbers are told as differences:
 *
 *     revision since the last, milliseconds since the last, object, type and flags, author (0: none), revision back to the one before (0: none), audit id, payload
 */
const TYPES = ['put', 'delete', 'initial'] as const;
const TYPE_BITS = 3;
const WHOLE = 4;
const ENCRYPTED = 8;
const UUID = 16;
const NO_PREVIOUS = 32;
const UUID_BYTES = 16;
const LINE_END = 10;

/** Takes half the time of the usual 6, and a few percent more room. */
const LEVEL = 3;
/** Of a block when it is read. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** A block that is being filled: records are encoded when they come, and once. */
export class BlockBuilder {
  readonly #authors = new Map<string, number>();
  readonly #authorTexts = new ByteWriter(512);
  readonly #records = new ByteWriter(16 * 1024);
  readonly #uuid = Buffer.alloc(UUID_BYTES);
  #count = 0;
  #revision = 0;
  #timeMs = 0;

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#records.length;
  }

  append(record: NewRecord): void {
    const out = this.#records;
    const { annotation } = record;
    const lineEnd = annotation ? annotation.indexOf(LINE_END) : -1;
    const isUuid = annotation !== undefined && readUuid(annotation, lineEnd, this.#uuid);
    const flags = (record.isWhole ? WHOLE : 0) + (record.isEncrypted ? ENCRYPTED : 0) + (isUuid ? UUID : 0) + (record.previousRevision === 0 ? NO_PREVIOUS : 0);
    out.varint(record.revision - this.#revision);
    out.varint(record.timeMs - this.#timeMs);
    out.varint(record.objectId);
    out.varint(TYPES.indexOf(record.type) + flags);
    out.varint(annotation ? this.#authorOf(annotation, lineEnd + 1) : 0);
    if (record.previousRevision > 0) out.varint(record.revision - record.previousRevision);
    if (isUuid) out.raw(this.#uuid);
    else out.sized(annotation ? annotation.subarray(0, Math.max(lineEnd, 0)) : EMPTY);
    out.sized(record.payload);
    this.#count++;
    this.#revision = record.revision;
    this.#timeMs = record.timeMs;
  }

  #authorOf(annotation: Buffer, start: number): number {
    const text = annotation.toString('latin1', start);
    let author = this.#authors.get(text);
    if (author === undefined) {
      this.#authors.set(text, (author = this.#authors.size + 1));
      this.#authorTexts.sized(annotation.subarray(start));
    }
    return author;
  }

  /** All of it so far, as `decodeText` reads it. */
  get text(): Buffer {
    const head = new ByteWriter(16);
    head.varint(this.#authors.size);
    const count = new ByteWriter(16);
    count.varint(this.#count);
    return Buffer.concat([head.written, this.#authorTexts.written, count.written, this.#records.written]);
  }
}

const EMPTY = Buffer.alloc(0);
const DASHES = new Set([8, 13, 18, 23]);
const UUID_CHARACTERS = 36;

/** False where what stands before `end` is no UUID as this server writes them. */
function readUuid(bytes: Buffer, end: number, into: Buffer): boolean {
  if (end !== UUID_CHARACTERS) return false;
  let [digits, value] = [0, 0];
  for (let at = 0; at < UUID_CHARACTERS; at++) {
    const char = bytes[at]!;
    if (DASHES.has(at)) {
      if (char !== 45) return false;
      continue;
    }
    const digit = char >= 97 && char <= 102 ? char - 87 : char >= 48 && char <= 57 ? char - 48 : -1;
    if (digit < 0) return false;
    value = value * 16 + digit;
    if (digits % 2 === 1) {
      into[digits >> 1] = value;
      value = 0;
    }
    digits++;
  }
  return true;
}

/** On another thread. */
export const compressBlock = (text: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => void deflateRaw(text, { level: LEVEL }, (error, block) => (error ? reject(error) : resolve(block))));

export const decodeBlock = (block: Buffer): ChangeRecord[] => decodeText(inflateRawSync(block, { maxOutputLength: MAX_TEXT_BYTES }));

export function decodeText(text: Buffer): ChangeRecord[] {
  const reader = new ByteReader(text);
  const authors = [''];
  for (let left = reader.varint(); left > 0; left--) authors.push(reader.text());
  const records: ChangeRecord[] = [];
  let [revision, timeMs] = [0, 0];
  for (let left = reader.varint(); left > 0; left--) {
    revision += reader.varint();
    timeMs += reader.varint();
    records.push(readRecord(reader, revision, timeMs, authors));
  }
  return records;
}

function readRecord(reader: ByteReader, revision: number, timeMs: number, authors: readonly string[]): ChangeRecord {
  const objectId = reader.varint();
  const flags = reader.varint();
  const author = authors[reader.varint()] ?? '';
  const previousRevision = (flags & NO_PREVIOUS) > 0 ? 0 : revision - reader.varint();
  const audit = (flags & UUID) > 0 ? reader.raw(UUID_BYTES) : reader.sized();
  const payload = reader.sized();
  const type = TYPES[flags & TYPE_BITS]!;
  const isWhole = (flags & WHOLE) > 0;
  const isEncrypted = (flags & ENCRYPTED) > 0;
  return new DecodedRecord({ revision, timeMs, objectId, type, isWhole, isEncrypted, previousRevision, author, payload }, audit, (flags & UUID) > 0);
}

/** A record whose audit id is made when somebody asks for it. */
class DecodedRecord implements ChangeRecord {
  readonly revision: number;
  readonly timeMs: number;
  readonly objectId: number;
  readonly type: ChangeRecord['type'];
  readonly isWhole: boolean;
  readonly isEncrypted: boolean;
  readonly previousRevision: number;
  readonly author: string;
  readonly payload: Buffer;
  readonly #audit: Buffer;
  readonly #isUuid: boolean;

  constructor(fields: Omit<ChangeRecord, 'auditId'>, audit: Buffer, isUuid: boolean) {
    this.revision = fields.revision;
    this.timeMs = fields.timeMs;
    this.objectId = fields.objectId;
    this.type = fields.type;
    this.isWhole = fields.isWhole;
    this.isEncrypted = fields.isEncrypted;
    this.previousRevision = fields.previousRevision;
    this.author = fields.author;
    this.payload = fields.payload;
    this.#audit = audit;
    this.#isUuid = isUuid;
  }

  get auditId(): string {
    if (!this.#isUuid) return this.#audit.toString('latin1');
    const digits = this.#audit.toString('hex');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
  }
}
