import { HeaderReader } from '../../src/http2/hpack.ts';
import { STATIC_TABLE } from '../../src/http2/header-table.ts';
import type { Random } from '../../src/util/test-random.ts';

/* Blocks of HPACK (RFC 7541): their fields are changed, and written again in any of the ways that there are to write them. */

type Field = [name: string, value: string];

const FIELDS: readonly Field[] = [
  [':method', 'GET'],
  [':method', 'CONNECT'],
  [':path', '/'],
  [':path', '*'],
  [':path', ''],
  [':path', '/a?b=c#d'],
  [':scheme', 'https'],
  [':scheme', 'ftp'],
  [':authority', 'a:443'],
  [':authority', ''],
  [':protocol', 'websocket'],
  [':status', '200'],
  ['host', 'b'],
  ['cookie', 'a=b'],
  ['cookie', 'c=d'],
  ['content-length', '5'],
  ['content-length', '05'],
  ['content-length', '-1'],
  ['transfer-encoding', 'chunked'],
  ['connection', 'close'],
  ['te', 'trailers'],
  ['te', 'gzip'],
  ['upgrade', 'x'],
  ['x', ''],
  ['', 'x'],
  ['X', 'upper'],
  ['__proto__', 'x'],
  ['x-long', 'x'.repeat(1000)],
  ['x', 'a\0b'],
  ['x', ' a '],
  ['x', '\u00ff'],
  ['a b', 'c'],
];
const START: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a'],
  [':path', '/'],
];
const MAX_BLOCKS = 3;
const TABLE_BYTES = 4096;

/** Blocks with their lengths before them, which are one connection's. */
export const withLengths = (blocks: readonly Buffer[]): Buffer =>
  Buffer.concat(
    blocks.flatMap((block) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Math.min(block.length, 0xffff));
      return [length, block.subarray(0, 0xffff)];
    }),
  );

export function blocksIn(input: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at + 2 <= input.length && blocks.length < MAX_BLOCKS;) {
    const end = at + 2 + input.readUInt16BE(at);
    blocks.push(input.subarray(at + 2, end));
    at = end;
  }
  return blocks;
}

/** Other blocks of like fields: what later ones name by number, earlier ones have put into the table. */
export function mutateHpack(random: Random, bytes: Buffer): Buffer | undefined {
  const reader = new HeaderReader({ tableBytes: TABLE_BYTES, listBytes: 65_536, fieldCount: 1000 });
  const writer = new RandomWriter(random);
  const blocks: Buffer[] = [];
  for (const block of blocksIn(bytes)) {
    const fields = fieldsOf(reader, block);
    for (let count = random.below(4); count > 0; count--) change(random, fields);
    blocks.push(writer.block(fields));
  }
  while (blocks.length < MAX_BLOCKS && random.chance(0.4)) blocks.push(writer.block([...START, random.pick(FIELDS)]));
  return blocks.length === 0 ? undefined : withLengths(blocks);
}

function fieldsOf(reader: HeaderReader, block: Buffer): Field[] {
  try {
    const texts = reader.read(block);
    const fields = Array.from({ length: texts.length / 2 }, (_, index): Field => [texts[2 * index]!, texts[2 * index + 1]!]);
    return fields.length > 0 ? fields : [...START];
  } catch {
    return [...START];
  }
}

function change(random: Random, fields: Field[]): void {
  const at = random.below(fields.length + 1);
  const field = fields[at];
  const way = random.below(6);
  if (way === 0 && field) fields.splice(at, 1);
  else if (way === 1 && field) fields.splice(random.below(fields.length + 1), 0, field);
  else if (way === 2 && field) fields[at] = [field[0], random.pick(FIELDS)[1]];
  else if (way === 3 && field) for (let count = random.below(30); count > 0; count--) fields.push(field);
  else if (random.chance(0.7)) fields.push(random.pick(FIELDS));
  else fields.splice(at, 0, random.pick(FIELDS));
}

/** Keeps the table as a reader does, so that its numbers name what they are to. */
class RandomWriter {
  readonly #random: Random;
  /** The newest first. */
  #table: Field[] = [];
  #tableBytes = TABLE_BYTES;

  constructor(random: Random) {
    this.#random = random;
  }

  block(fields: readonly Field[]): Buffer {
    const random = this.#random;
    const parts: Buffer[] = [];
    if (random.chance(0.1)) {
      this.#tableBytes = random.pick([0, 31, 32, 100, 1000, TABLE_BYTES]);
      parts.push(integer(this.#tableBytes, 5, 0x20));
      this.#shrink();
    }
    for (const field of fields) parts.push(this.#field(field));
    return Buffer.concat(parts);
  }

  #field(field: Field): Buffer {
    const random = this.#random;
    const [name, value] = field;
    const whole = this.#indexOf((one) => one[0] === name && one[1] === value);
    if (whole > 0 && random.chance(0.6)) return integer(whole, 7, 0x80);
    const named = random.chance(0.7)
      ? Math.max(
          0,
          this.#indexOf((one) => one[0] === name),
        )
      : 0;
    const [bits, flag] = random.pick<readonly [number, number]>([
      [6, 0x40],
      [4, 0],
      [4, 0x10],
    ]);
    const head = integer(named, bits, flag);
    if (flag === 0x40) {
      this.#table.unshift(field);
      this.#shrink();
    }
    return Buffer.concat([head, ...(named === 0 ? [this.#text(name)] : []), this.#text(value)]);
  }

  #indexOf(isIt: (field: readonly [string, string]) => boolean): number {
    const known = STATIC_TABLE.findIndex(isIt);
    if (known >= 0) return known + 1;
    const remembered = this.#table.findIndex(isIt);
    return remembered >= 0 ? STATIC_TABLE.length + 1 + remembered : 0;
  }

  #shrink(): void {
    const sizeOf = (): number => this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (this.#table.length > 0 && sizeOf() > this.#tableBytes) this.#table.pop();
  }

  #text(text: string): Buffer {
    const bytes = Buffer.from(text, 'latin1');
    const coded = this.#random.chance(0.4) ? huffman(bytes) : undefined;
    return coded ? Buffer.concat([integer(coded.length, 7, 0x80), coded]) : Buffer.concat([integer(bytes.length, 7, 0), bytes]);
  }
}

function integer(value: number, prefixBits: number, flag: number): Buffer {
  const limit = 2 ** prefixBits - 1;
  if (value < limit) return Buffer.from([flag | value]);
  const bytes = [flag | limit];
  let rest = value - limit;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Codes of the bytes that most texts are of (RFC 7541, Appendix B); undefined where there are others. */
const CODES: Readonly<Record<string, string>> = {
  '0': '00000',
  '1': '00001',
  '2': '00010',
  a: '00011',
  c: '00100',
  e: '00101',
  i: '00110',
  o: '00111',
  s: '01000',
  t: '01001',
  ' ': '010100',
  '-': '010110',
  '.': '010111',
  '/': '011000',
  '3': '011001',
  '5': '011011',
  '=': '100000',
  b: '100011',
  d: '100100',
  f: '100101',
  g: '100110',
  h: '100111',
  l: '101000',
  m: '101001',
  n: '101010',
  p: '101011',
  r: '101100',
  u: '101101',
  ':': '1011100',
  x: '1111001',
  y: '1111010',
  '*': '11111001',
  '?': '1111111100',
  '\0': '1111111111000',
};

function huffman(bytes: Buffer): Buffer | undefined {
  let bits = '';
  for (const byte of bytes) {
    const code = CODES[String.fromCharCode(byte)];
    if (code === undefined) return undefined;
    bits += code;
  }
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}
