import { quote } from '../../util/go-quote.ts';

/** An IP address as Go's net/netip has it. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Text that is no address or prefix; the message is that of net/netip. */
export class AddressError extends Error {}

export const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

const problem = (text: string, message: string, at = ''): AddressError =>
  new AddressError(`ParseAddr(${quote(text)}): ${message}${at === '' ? '' : ` (at ${quote(at)})`}`);

/** Zones are told apart from addresses, since nobody here takes them. Throws AddressError. */
export function parseAddress(text: string): Address & { zone: string } {
  const mark = /[.:%]/.exec(text)?.[0];
  if (mark === '.') return { family: 4, value: parseIpv4(text, text), zone: '' };
  if (mark === ':') return parseIpv6(text);
  throw problem(text, mark === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

function parseIpv4(whole: string, part: string): bigint {
  let value = 0n;
  let octet = '';
  let count = 1;
  for (const [index, char] of Array.from(part).entries()) {
    if (char >= '0' && char <= '9') {
      if (octet === '0') throw problem(whole, 'IPv4 field has octet with leading zero');
      octet += char;
      if (Number(octet) > 255) throw problem(whole, 'IPv4 field has value >255');
    } else if (char === '.') {
      if (index === 0 || index === part.length - 1 || octet === '') throw problem(whole, 'IPv4 field must have at least one digit', part.slice(index));
      if (count === 4) throw problem(whole, 'IPv4 address too long');
      value = (value << 8n) | BigInt(octet);
      octet = '';
      count++;
    } else throw problem(whole, 'unexpected character', part.slice(index));
  }
  if (count < 4) throw problem(whole, 'IPv4 address too short');
  return (value << 8n) | BigInt(octet);
}

function parseIpv6(text: string): Address & { zone: string } {
  const percent = text.indexOf('%');
  const zone = percent === -1 ? '' : text.slice(percent + 1);
  if (percent !== -1 && zone === '') throw problem(text, 'zone must be a non-empty string');
  const groups = new Ipv6Reader(text, percent === -1 ? text : text.slice(0, percent)).read();
  return { family: 6, value: groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n), zone };
}

const GROUPS = 8;

class Ipv6Reader {
  readonly #text: string;
  readonly #groups: number[] = [];
  #rest: string;
  /** Before which group zeros are left out. */
  #ellipsis: number | undefined;

  constructor(text: string, body: string) {
    this.#text = text;
    this.#rest = body;
  }

  read(): number[] {
    if (this.#rest.startsWith('::')) {
      this.#ellipsis = 0;
      this.#rest = this.#rest.slice(2);
    }
    while (this.#groups.length < GROUPS && !(this.#ellipsis !== undefined && this.#rest === '')) {
      if (!this.#readGroup()) break;
    }
    if (this.#rest !== '') throw this.#problem('trailing garbage after address', this.#rest);
    return this.#expanded();
  }

  #problem(message: string, at?: string): AddressError {
    return problem(this.#text, message, at);
  }

  /** Whether there is more. */
  #readGroup(): boolean {
    const digits = /^[0-9a-fA-F]*/.exec(this.#rest)![0];
    if (digits.length > 4) throw this.#problem('each group must have 4 or less digits', this.#rest);
    if (digits === '') throw this.#problem('each colon-separated field must have at least one digit', this.#rest);
    if (this.#rest[digits.length] === '.') return this.#readIpv4();
    this.#groups.push(Number.parseInt(digits, 16));
    this.#rest = this.#rest.slice(digits.length);
    return this.#rest !== '' && this.#readColon();
  }

  #readColon(): boolean {
    if (!this.#rest.startsWith(':')) throw this.#problem('unexpected character, want colon', this.#rest);
    if (this.#rest.length === 1) throw this.#problem('colon must be followed by more characters', this.#rest);
    this.#rest = this.#rest.slice(1);
    if (!this.#rest.startsWith(':')) return true;
    if (this.#ellipsis !== undefined) throw this.#problem('multiple :: in address', this.#rest);
    this.#ellipsis = this.#groups.length;
    this.#rest = this.#rest.slice(1);
    return this.#rest !== '';
  }

  #readIpv4(): false {
    if (this.#ellipsis === undefined && this.#groups.length !== 6) {
      throw this.#problem('embedded IPv4 address must replace the final 2 fields of the address', this.#rest);
    }
    if (this.#groups.length > 6) throw this.#problem('too many hex fields to fit an embedded IPv4 at the end of the address', this.#rest);
    const value = Number(parseIpv4(this.#text, this.#rest));
    this.#groups.push(Math.floor(value / 0x1_0000), value % 0x1_0000);
    this.#rest = '';
    return false;
  }

  #expanded(): number[] {
    const missing = GROUPS - this.#groups.length;
    if (this.#ellipsis === undefined) {
      if (missing > 0) throw this.#problem('address string too short');
      return this.#groups;
    }
    if (missing === 0) throw this.#problem('the :: must expand to at least one field of zeros');
    return this.#groups.toSpliced(this.#ellipsis, 0, ...Array.from({ length: missing }, () => 0));
  }
}

/** The canonical text (RFC 5952). */
export function formatAddress({ family, value }: Address): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: GROUPS }, (_, index) => Number((value >> BigInt(16 * (GROUPS - 1 - index))) & 0xffffn));
  const [start, length] = longestZeros(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  return length < 2 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function longestZeros(groups: readonly number[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best[1]) best = [start, length];
  }
  return best;
}

/** Whether the first so many bits are the same. */
export function sharePrefix(a: Address, b: Address, bits: number): boolean {
  const rest = BigInt(bitsOf(a.family) - bits);
  return a.family === b.family && a.value >> rest === b.value >> rest;
}

export interface Prefix {
  readonly address: Address;
  readonly bits: number;
}

/** Bits beyond the prefix may be set. Throws AddressError. */
export function parsePrefix(text: string): Prefix {
  const fail = (message: string): AddressError => new AddressError(`netip.ParsePrefix(${quote(text)}): ${message}`);
  const slash = text.lastIndexOf('/');
  if (slash === -1) throw fail("no '/'");
  let address: Address & { zone: string };
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    throw error instanceof AddressError ? fail(error.message) : error;
  }
  if (address.zone !== '') throw fail('IPv6 zones cannot be present in a prefix');
  const bitsText = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(bitsText)) throw fail(`bad bits after slash: ${quote(bitsText)}`);
  if (Number(bitsText) > bitsOf(address.family)) throw fail('prefix length out of range');
  return { address, bits: Number(bitsText) };
}
