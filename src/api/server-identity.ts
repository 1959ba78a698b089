import { createHash } from 'node:crypto';

/** What a server on a machine is called: the same at every start (apiserver/pkg/server/config.go). Hashed are both names, each with its length before it. */
export function serverIdentity(hostname: string, component: string): string {
  const hash = createHash('sha256');
  for (const text of [hostname, component]) {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(text));
    hash.update(length).update(text);
  }
  return `apiserver-${base32(hash.digest().subarray(0, 16))}`;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 without padding, in lower case. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

/** How metrics name what they must not tell: upstream's getHash. */
export const labelHash = (text: string): string => (text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`);
