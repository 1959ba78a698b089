import { BlockList, isIP } from 'node:net';

const OTHERS = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 32],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
] as const)
  OTHERS.addSubnet(address, prefix, 'ipv4');
for (const [address, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  OTHERS.addSubnet(address, prefix, 'ipv6');

/** An address that stands for one machine wherever it is used: not loopback, link-local, multicast, broadcast or none at all (Go's IsGlobalUnicast). */
export function isGlobalUnicast(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !OTHERS.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
