import { formatIp, isMapped, parseIp } from './ip-address.ts';

/** A range of addresses as text gave it. */
export interface GivenCidr {
  bytes: readonly number[];
  prefixLength: number;
  /** Read here, but not by stricter readers: `010.0.0.0/8`, `10.0.0.0/08`. */
  hasLeadingZeros: boolean;
  /** `::ffff:10.0.0.0/104` */
  isMapped: boolean;
}

/** As k8s.io/utils/net ParseCIDRSloppy takes it. Undefined when the text is no CIDR. */
export function readCidr(text: string): GivenCidr | undefined {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const lengthText = text.slice(slash + 1);
  if (!address || !/^[0-9]{1,16}$/.test(lengthText)) return undefined;
  const prefixLength = Number(lengthText);
  if (prefixLength > address.bytes.length * 8) return undefined;
  return {
    bytes: address.bytes,
    prefixLength,
    hasLeadingZeros: address.hasLeadingZeros || (lengthText.length > 1 && lengthText.startsWith('0')),
    isMapped: isMapped(address.bytes),
  };
}

/** A range of addresses: the first one as a number, and how many bits of it are fixed. */
export interface Cidr {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly prefixLength: number;
  /** Normal form: `10.0.0.0/24`. */
  readonly text: string;
}

const BITS = { 4: 32, 6: 128 } as const;

/** The same without what is ambiguous; bits of the address beyond the prefix are dropped. */
export function parseCidr(text: string): Cidr | undefined {
  const given = readCidr(text.trim());
  if (!given || given.hasLeadingZeros || given.isMapped) return undefined;
  const { bytes, prefixLength } = given;
  const family = bytes.length === 4 ? 4 : 6;
  const hostBits = BigInt(BITS[family] - prefixLength);
  const first = (numberOf(bytes) >> hostBits) << hostBits;
  return { family, first, prefixLength, text: `${addressText(first, family)}/${prefixLength}` };
}

/** How many bits tell the addresses of the range apart. */
export const hostBits = ({ family, prefixLength }: Cidr): number => BITS[family] - prefixLength;

/** The address that stands so many places after the first. */
export const addressAt = ({ family, first }: Cidr, index: number | bigint): string => addressText(first + BigInt(index), family);

/** How many places after the first an address stands; undefined where it is not of the range. */
export function indexIn({ family, first, prefixLength }: Cidr, address: string): bigint | undefined {
  const bytes = parseIp(address)?.bytes;
  if (bytes?.length !== BITS[family] / 8) return undefined;
  const index = numberOf(bytes) - first;
  return index >= 0n && index < 1n << BigInt(BITS[family] - prefixLength) ? index : undefined;
}

export const isUnspecified = (address: string): boolean => address === '' || strictBytes(address)?.every((byte) => byte === 0) === true;

export function isLoopback(address: string): boolean {
  const bytes = strictBytes(address);
  return bytes?.length === 4 ? bytes[0] === 127 : bytes?.every((byte, index) => byte === (index === 15 ? 1 : 0)) === true;
}

/** Of an address that every reader takes for the same one; its zone (`fe80::1%eth0`) does not matter. */
function strictBytes(text: string): readonly number[] | undefined {
  const address = parseIp(text.includes(':') ? text.replace(/%.+$/, '') : text);
  return address?.hasLeadingZeros ? undefined : address?.bytes;
}

const numberOf = (bytes: readonly number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

const addressText = (value: bigint, family: 4 | 6): string =>
  formatIp(Array.from({ length: BITS[family] / 8 }, (_, index) => Number((value >> BigInt(BITS[family] - 8 * (index + 1))) & 0xffn)));
