import { BlockList, isIP } from 'node:net';

/** A range of addresses: the first one as a number, and how many bits of it are fixed. */
export interface Cidr {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly prefixLength: number;
  /** Normal form: `10.0.0.0/24`. */
  readonly text: string;
}

const BITS = { 4: 32, 6: 128 } as const;

/** Undefined when the text is no CIDR. Bits of the address beyond the prefix are dropped. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text.trim());
  const family = match ? isIP(match[1]!) : 0;
  if (!match || (family !== 4 && family !== 6)) return undefined;
  const prefixLength = Number(match[2]);
  if (prefixLength > BITS[family]) return undefined;
  const hostBits = BigInt(BITS[family] - prefixLength);
  const first = (addressNumber(match[1]!, family) >> hostBits) << hostBits;
  return { family, first, prefixLength, text: `${addressText(first, family)}/${prefixLength}` };
}

/** How many bits tell the addresses of the range apart. */
export const hostBits = ({ family, prefixLength }: Cidr): number => BITS[family] - prefixLength;

/** The address that stands so many places after the first. */
export const addressAt = ({ family, first }: Cidr, index: number | bigint): string => addressText(first + BigInt(index), family);

/** How many places after the first an address stands; undefined where it is not of the range. */
export function indexIn({ family, first, prefixLength }: Cidr, address: string): bigint | undefined {
  if (isIP(address) !== family) return undefined;
  const index = addressNumber(address, family) - first;
  return index >= 0n && index < 1n << BigInt(BITS[family] - prefixLength) ? index : undefined;
}

export const isUnspecified = (address: string): boolean => address === '' || contains('0.0.0.0', 32, address) || contains('::', 128, address);
export const isLoopback = (address: string): boolean => contains('127.0.0.0', 8, address) || contains('::1', 128, address);

function contains(network: string, prefixLength: number, address: string): boolean {
  const family = isIP(address);
  if (family === 0 || family !== isIP(network)) return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(network, prefixLength, type);
  return list.check(address, type);
}

function addressNumber(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const [head = '', tail] = expandDottedTail(address).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** `::ffff:1.2.3.4` as `::ffff:102:304`. */
const expandDottedTail = (address: string): string =>
  address.replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, a: string, b: string, c: string, d: string) => `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`,
  );

function addressText(value: bigint, family: 4 | 6): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  // The URL parser writes the canonical form of RFC 5952.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
