import { randomBytes } from 'node:crypto';

/** For tests: a frame as clients send it, masked. */
export function clientFrame(opcode: number, payload: Buffer, isFinal = true): Buffer {
  const mask = randomBytes(4);
  const length = payload.length;
  const size = length <= 125 ? [length] : length <= 0xffff ? [126, length >> 8, length & 0xff] : [127, ...bigEndian(length)];
  const masked = Buffer.from(payload.map((byte, index) => byte ^ mask[index & 3]!));
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | size[0]!, ...size.slice(1)]), mask, masked]);
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** For tests: the frames that a server sends, cut out of what came. */
export function serverFrames(bytes: Buffer): { opcode: number; payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1]!;
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    const length = short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    frames.push({ opcode: bytes[at]! & 0x0f, payload: bytes.subarray(at + head, at + head + length) });
    at += head + length;
  }
  return frames;
}
