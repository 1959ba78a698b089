import { DerError, DerReader, type DerValue, Tag, readOid, readText } from '../../encoding/der.ts';

/** One attribute of a distinguished name. */
export interface NameAttribute {
  oid: string;
  value: string;
}

const BAD_NAME = 'x509: invalid RDNSequence';

/** All attributes in order, those of multi-valued RDNs included. Errors are Go's. */
export function readName(name: DerValue): NameAttribute[] {
  const attributes: NameAttribute[] = [];
  const names = new DerReader(name.content);
  while (!names.isEmpty) {
    const set = names.enter(Tag.set, BAD_NAME);
    while (!set.isEmpty) attributes.push(readAttribute(set.enter(Tag.sequence, `${BAD_NAME}: invalid attribute`)));
  }
  return attributes;
}

function readAttribute(attribute: DerReader): NameAttribute {
  const badType = `${BAD_NAME}: invalid attribute type`;
  const oid = oidOr(badType, attribute.read(Tag.oid, badType));
  const value = attribute.readAny(`${BAD_NAME}: invalid attribute value`);
  const problem = textProblem(value);
  if (problem !== undefined) throw new DerError(`${BAD_NAME}: invalid attribute value: ${problem}`);
  return { oid, value: textOf(value) };
}

export function oidOr(problem: string, value: DerValue): string {
  try {
    return readOid(value);
  } catch {
    throw new DerError(problem);
  }
}

/** PrintableString with `*` and `&`, which are not of it but are found in certificates. */
const PRINTABLE = /^[A-Za-z0-9'()*+,\-./ :=?&]*$/;

/** What does not belong into a string of the value's type (crypto/x509, parseASN1String). */
function textProblem({ tag, content }: DerValue): string | undefined {
  switch (tag) {
    case Tag.t61String:
      return undefined;
    case Tag.printableString:
      return PRINTABLE.test(content.toString('latin1')) ? undefined : 'invalid PrintableString';
    case Tag.utf8String:
      return isUtf8(content) ? undefined : 'invalid UTF-8 string';
    case Tag.bmpString:
      return isBasicMultilingual(content) ? undefined : 'invalid BMPString';
    case Tag.ia5String:
      return isAscii(content) ? undefined : 'invalid IA5String';
    case Tag.numericString:
      return /^[0-9 ]*$/.test(content.toString('latin1')) ? undefined : 'invalid NumericString';
    default:
      return `unsupported string type: ${tag}`;
  }
}

export const isAscii = (content: Buffer): boolean => content.every((byte) => byte < 0x80);
const isUtf8 = (content: Buffer): boolean => Buffer.from(content.toString('utf8')).equals(content);

/** Without surrogates and the code points that are no characters. */
function isBasicMultilingual(content: Buffer): boolean {
  if (content.length % 2 !== 0) return false;
  for (let at = 0; at < content.length; at += 2) {
    const point = content.readUInt16BE(at);
    if (point >= 0xfffe || (point >= 0xfdd0 && point <= 0xfdef) || (point >= 0xd800 && point <= 0xdfff)) return false;
  }
  return true;
}

function textOf(value: DerValue): string {
  const text = readText(value)!;
  return value.tag === Tag.bmpString && text.endsWith('\0') ? text.slice(0, -1) : text;
}
