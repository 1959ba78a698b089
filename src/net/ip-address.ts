/** An address as text gave it. Four bytes, or sixteen. */
export interface IpAddress {
  bytes: number[];
  /** `010.0.0.1`: read as decimal here, as octal by much else, so never let in anew. */
  hasLeadingZeros: boolean;
}

/** `::ffff:10.0.0.1`: version 4 in the clothes of version 6. */
export const isMapped = (bytes: readonly number[]): boolean =>
  bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;

/** As k8s.io/utils/net ParseIPSloppy takes it: no zones, leading zeros read as decimal. */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIp6(text) : parseIp4(text);
}

const IP4_PART_MAX_LENGTH = 16;

/** Character by character: lists of addresses have room for tens of thousands, and each is read several times. */
function parseIp4(text: string): IpAddress | undefined {
  const bytes: number[] = [];
  let hasLeadingZeros = false;
  let start = 0;
  let value = 0;
  for (let at = 0; at <= text.length; at++) {
    const digit = at === text.length ? -1 : text.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      continue;
    }
    const isPartEnd = at === text.length || text[at] === '.';
    if (!isPartEnd || at === start || at - start > IP4_PART_MAX_LENGTH || value > 255 || bytes.length === 4) return undefined;
    if (at - start > 1 && text[start] === '0') hasLeadingZeros = true;
    bytes.push(value);
    start = at + 1;
    value = 0;
  }
  return bytes.length === 4 ? { bytes, hasLeadingZeros } : undefined;
}

const IP6_MAX_LENGTH = 64;

function parseIp6(text: string): IpAddress | undefined {
  if (text.length > IP6_MAX_LENGTH) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half) => groupsOf(half));
  if (!head || (halves.length === 2 && !tail)) return undefined;
  const length = head.bytes.length + (tail?.bytes.length ?? 0);
  if (tail ? length > 14 : length !== 16) return undefined;
  // Dotted parts may only end the address.
  if (tail && head.isDotted) return undefined;
  const bytes = tail ? [...head.bytes, ...Array<number>(16 - length).fill(0), ...tail.bytes] : head.bytes;
  return { bytes, hasLeadingZeros: head.hasLeadingZeros || (tail?.hasLeadingZeros ?? false) };
}

function groupsOf(text: string): (IpAddress & { isDotted: boolean }) | undefined {
  const bytes: number[] = [];
  if (text === '') return { bytes, hasLeadingZeros: false, isDotted: false };
  const groups = text.split(':');
  const last = groups.at(-1)!;
  const dotted = last.includes('.') ? parseIp4(last) : undefined;
  if (last.includes('.') && !dotted) return undefined;
  for (const group of dotted ? groups.slice(0, -1) : groups) {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(value >> 8, value & 255);
  }
  if (dotted) bytes.push(...dotted.bytes);
  return { bytes, hasLeadingZeros: dotted?.hasLeadingZeros ?? false, isDotted: dotted !== undefined };
}

/** RFC 5952; a mapped address as its four bytes, as Go prints it. */
export function formatIp(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  if (isMapped(bytes)) return bytes.slice(12).join('.');
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  const gap = longestZeros(groups);
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return gap.length < 2 ? text(0, 8) : `${text(0, gap.start)}::${text(gap.start + gap.length, 8)}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (end < groups.length && groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}
