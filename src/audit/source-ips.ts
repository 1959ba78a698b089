import { SocketAddress, isIPv4, isIPv6 } from 'node:net';
import type { Exchange } from '../serving/exchange.ts';

/**
 * Where a request says that it comes from, and where it does come from (apimachinery/pkg/util/net SourceIPs): the addresses of X-Forwarded-For,
 * X-Real-Ip if it is none of them, and the connection's own if it is not the last. All but that may be what the client likes.
 */
export function sourceIps(exchange: Exchange): string[] {
  const ips: string[] = [];
  const { headers } = exchange;
  if (headers['x-forwarded-for'] !== undefined) {
    for (const part of (exchange.headerValues('x-forwarded-for')[0] ?? '').split(',')) {
      const ip = canonicalIp(part.trim());
      if (ip !== undefined) ips.push(ip);
    }
  }
  if (headers['x-real-ip'] !== undefined) {
    const ip = canonicalIp(exchange.headerValues('x-real-ip')[0] ?? '');
    if (ip !== undefined && !ips.includes(ip)) ips.push(ip);
  }
  const remote = canonicalIp(exchange.remoteAddress);
  if (remote !== undefined && remote !== ips.at(-1)) ips.push(remote);
  return ips;
}

const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
/** An IPv4 address that came over an IPv6 socket. */
const MAPPED_PREFIX = '::ffff:';

/** As Go prints what its lenient parser takes: zeros in front are no octal numbers, zones are not taken. */
function canonicalIp(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const octets = IPV4.exec(text)?.slice(1).map(Number);
  if (octets) return octets.every((octet) => octet <= 255) ? octets.join('.') : undefined;
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return address.startsWith(MAPPED_PREFIX) && address.includes('.') ? address.slice(MAPPED_PREFIX.length) : address;
}
