import { isUtf8 } from 'node:buffer';
import { ARRAY, BYTES, FALSE, INDEFINITE, MAP, NEGATIVE, NULL, ONE_BYTE, TAG, TEXT, TRUE, UNSIGNED, floatOf } from './cbor-items.ts';
import { CborReader, countOf } from './cbor-reader.ts';

/** Bytes that are well-formed, in diagnostic notation (RFC 8949, 8), as upstream's library writes it into messages: byte strings as text where they are. */
export const diagnoseCbor = (bytes: Buffer): string => item(new CborReader(bytes));

function item(reader: CborReader): string {
  switch (reader.major) {
    case UNSIGNED:
    case NEGATIVE:
      return String(reader.anyInteger());
    case BYTES:
    case TEXT:
      return (reader.bytes[reader.at]! & 0x1f) === INDEFINITE ? chunks(reader) : string(reader);
    case ARRAY:
    case MAP:
      return container(reader);
    case TAG:
      return `${reader.head().argument}(${item(reader)})`;
    default:
      return primitive(reader);
  }
}

function container(reader: CborReader): string {
  const head = reader.head();
  const count = countOf(head);
  const parts: string[] = [];
  while (!reader.isOver(count, parts.length)) parts.push(head.major === MAP ? `${item(reader)}: ${item(reader)}` : item(reader));
  const inside = `${count === Infinity ? '_ ' : ''}${parts.join(', ')}`;
  return head.major === MAP ? `{${inside}}` : `[${inside}]`;
}

function chunks(reader: CborReader): string {
  const isText = reader.head().major === TEXT;
  const parts: string[] = [];
  while (!reader.isOver(Infinity, 0)) parts.push(string(reader));
  if (parts.length === 0) return isText ? '""_' : "''_";
  return `(_ ${parts.join(', ')})`;
}

function string(reader: CborReader): string {
  if (reader.major === TEXT) return quoted(reader.text(), '"');
  const bytes = reader.byteString();
  return bytes.length > 0 && isUtf8(bytes) ? quoted(bytes.toString('utf8'), "'") : `h'${bytes.toString('hex')}'`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

function quoted(text: string, mark: string): string {
  const escaped = text.replace(/[^ -[\]-~]/g, (unit) => ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return mark + escaped.replaceAll(mark, `\\${mark}`) + mark;
}

const WORDS: Readonly<Record<number, string>> = { [FALSE]: 'false', [TRUE]: 'true', [NULL]: 'null', 23: 'undefined' };

function primitive(reader: CborReader): string {
  const head = reader.head();
  if (head.info <= ONE_BYTE) return WORDS[head.argument] ?? `simple(${head.argument})`;
  const text = String(floatOf(reader.bytes, head));
  return text.includes('.') ? text : text.includes('e') ? text.replace('e', '.0e') : `${text}.0`;
}
