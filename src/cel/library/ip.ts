import { quote } from '../../util/go-quote.ts';
import { fn, member, overload, type Library } from '../declarations.ts';
import { BOOL, INT, STRING, opaqueType } from '../types.ts';
import { CelError, CelObject, noSuchOverload, type CelValue } from '../values.ts';
import { AddressError, bitsOf, formatAddress, parseAddress, parsePrefix, sharePrefix, type Address, type Prefix } from './address.ts';

/** IP addresses and ranges of them (apiserver/pkg/cel/library/ip.go, cidr.go). */
const IP = opaqueType('net.IP');
const CIDR = opaqueType('net.CIDR');

class IpValue extends CelObject {
  readonly type = IP;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof IpValue)) return noSuchOverload();
    return this.address.family === other.address.family && this.address.value === other.address.value;
  }

  override get size(): number {
    return bitsOf(this.address.family) / 8;
  }

  toString(): string {
    return formatAddress(this.address);
  }
}

class CidrValue extends CelObject {
  readonly type = CIDR;
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }

  override equals(other: CelValue): boolean | CelError {
    if (!(other instanceof CidrValue)) return noSuchOverload();
    const { address, bits } = other.prefix;
    return this.prefix.bits === bits && this.prefix.address.family === address.family && this.prefix.address.value === address.value;
  }

  override get size(): number {
    return Math.ceil(this.prefix.bits / 8);
  }

  toString(): string {
    return `${formatAddress(this.prefix.address)}/${this.prefix.bits}`;
  }
}

/** `::ffff:1.2.3.4` and its like. */
const isMapped = ({ family, value }: Address): boolean => family === 6 && value >> 32n === 0xffffn;
const mappedError = (text: string): CelError => new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);

/** What `read` throws as an error value, with `prefix` before it. */
function orError<R>(read: () => R, prefix: string): R | CelError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AddressError) return new CelError(`${prefix}${error.message}`);
    throw error;
  }
}

function parseIp(text: string): IpValue | CelError {
  const address = orError(() => parseAddress(text), `IP Address ${quote(text)} parse error during conversion from string: `);
  if (address instanceof CelError) return address;
  if (address.zone !== '') return new CelError(`IP address ${quote(text)} with zone value is not allowed`);
  return isMapped(address) ? mappedError(text) : new IpValue({ family: address.family, value: address.value });
}

function isCanonical(text: string): CelValue {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : ip.toString() === text;
}

const CIDR_ERROR = 'network address parse error during conversion from string: ';

function parseCidr(text: string): CidrValue | CelError {
  // Upstream puts the same words before the error twice.
  const prefix = orError(() => parsePrefix(text), CIDR_ERROR + CIDR_ERROR);
  if (prefix instanceof CelError) return prefix;
  return isMapped(prefix.address) ? new CelError(CIDR_ERROR + mappedError(text).message) : new CidrValue(prefix);
}

const masked = ({ prefix: { address, bits } }: CidrValue): CidrValue => {
  const rest = BigInt(bitsOf(address.family) - bits);
  return new CidrValue({ address: { family: address.family, value: (address.value >> rest) << rest }, bits });
};

const containsIp = ({ prefix }: CidrValue, ip: IpValue | CelError): CelValue =>
  ip instanceof CelError ? ip : sharePrefix(prefix.address, ip.address, prefix.bits);

const containsCidr = ({ prefix }: CidrValue, other: CidrValue | CelError): CelValue =>
  other instanceof CelError ? other : prefix.bits <= other.prefix.bits && sharePrefix(prefix.address, other.prefix.address, prefix.bits);

/** Whether an address lies in one of the ranges for its family, each written as a prefix. */
function within(...ranges: string[]): (value: IpValue) => boolean {
  const prefixes = ranges.map(parsePrefix);
  return ({ address }) => prefixes.some((prefix) => sharePrefix(prefix.address, address, prefix.bits));
}

const isUnspecified = within('0.0.0.0/32', '::/128');
const isLoopback = within('127.0.0.0/8', '::1/128');
const isLinkLocalUnicast = within('169.254.0.0/16', 'fe80::/10');
const isMulticast = within('224.0.0.0/4', 'ff00::/8');
const isBroadcast = within('255.255.255.255/32');
const isLocalIpv4Multicast = within('224.0.0.0/24');
/** Whatever its flags are. */
const isLinkLocalMulticast = (value: IpValue): boolean =>
  isLocalIpv4Multicast(value) || (value.address.family === 6 && ((value.address.value >> 112n) & 0xff0fn) === 0xff02n);
const isGlobalUnicast = (value: IpValue): boolean =>
  !isUnspecified(value) && !isBroadcast(value) && !isLoopback(value) && !isMulticast(value) && !isLinkLocalUnicast(value);

const question = (name: string, id: string, answer: (value: IpValue) => boolean): ReturnType<typeof fn> => fn(name, member(id, [IP], BOOL, answer));

export const IP_LIBRARY: Library = {
  types: [IP],
  functions: [
    fn('ip', overload('string_to_ip', [STRING], IP, parseIp)),
    fn(
      'family',
      member('ip_family', [IP], INT, ({ address }: IpValue) => address.family),
    ),
    fn('ip.isCanonical', overload('ip_is_canonical', [STRING], BOOL, isCanonical)),
    fn(
      'isIP',
      overload('is_ip', [STRING], BOOL, (text: string) => !(parseIp(text) instanceof CelError)),
    ),
    fn(
      'string',
      overload('ip_to_string', [IP], STRING, (value: IpValue) => value.toString()),
    ),
    question('isUnspecified', 'ip_is_unspecified', isUnspecified),
    question('isLoopback', 'ip_is_loopback', isLoopback),
    question('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    question('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    question('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
  ],
};

export const CIDR_LIBRARY: Library = {
  types: [CIDR],
  functions: [
    fn('cidr', overload('string_to_cidr', [STRING], CIDR, parseCidr)),
    fn(
      'containsIP',
      member('cidr_contains_ip_string', [CIDR, STRING], BOOL, (range: CidrValue, text: string) => containsIp(range, parseIp(text))),
      member('cidr_contains_ip_ip', [CIDR, IP], BOOL, containsIp),
    ),
    fn(
      'containsCIDR',
      member('cidr_contains_cidr_string', [CIDR, STRING], BOOL, (range: CidrValue, text: string) => containsCidr(range, parseCidr(text))),
      member('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCidr),
    ),
    fn(
      'ip',
      member('cidr_ip', [CIDR], IP, ({ prefix }: CidrValue) => new IpValue({ family: prefix.address.family, value: prefix.address.value })),
    ),
    fn(
      'prefixLength',
      member('cidr_prefix_length', [CIDR], INT, ({ prefix }: CidrValue) => prefix.bits),
    ),
    fn('masked', member('cidr_masked', [CIDR], CIDR, masked)),
    fn(
      'isCIDR',
      overload('is_cidr', [STRING], BOOL, (text: string) => !(parseCidr(text) instanceof CelError)),
    ),
    fn(
      'string',
      overload('cidr_to_string', [CIDR], STRING, (value: CidrValue) => value.toString()),
    ),
  ],
};
