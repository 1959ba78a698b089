import type { Random } from '../../src/util/test-random.ts';
import { type TreeNode, changedBytes, changedTree } from './tree.ts';

/* Messages of protobuf, taken apart into their fields, changed, and put together again with lengths that fit (protobuf.dev/programming-guides/encoding). */

const WIRE = { varint: 0, eight: 1, bytes: 2, four: 5 } as const;
const PREFIX = Buffer.from('k8s\0', 'latin1');
const MAX_DEPTH = 20;

/** An envelope of Kubernetes, or a message; undefined where it is none. */
export function mutateProtobuf(random: Random, bytes: Buffer): Buffer | undefined {
  const isEnvelope = bytes.subarray(0, PREFIX.length).equals(PREFIX);
  const nodes = fieldsOf(isEnvelope ? bytes.subarray(PREFIX.length) : bytes, 0);
  if (nodes === undefined || nodes.length === 0) return undefined;
  const message = written(changedTree(random, nodes, { head: changedHead, leaf: changedLeaf }));
  return isEnvelope ? Buffer.concat([PREFIX, message]) : message;
}

/** Undefined where these are no fields to their end. */
function fieldsOf(bytes: Buffer, depth: number): TreeNode[] | undefined {
  const nodes: TreeNode[] = [];
  const cursor = { at: 0 };
  while (cursor.at < bytes.length) {
    const head = varintAt(bytes, cursor);
    if (head === undefined || head < 8) return undefined;
    const start = cursor.at;
    const wire = head % 8;
    if (wire === WIRE.bytes) {
      const length = varintAt(bytes, cursor);
      if (length === undefined || cursor.at + length > bytes.length) return undefined;
      const content = bytes.subarray(cursor.at, (cursor.at += length));
      nodes.push({ head, content: (length > 1 && depth < MAX_DEPTH && fieldsOf(content, depth + 1)) || content });
      continue;
    }
    if (wire === WIRE.varint) {
      if (varintAt(bytes, cursor) === undefined) return undefined;
    } else if (wire === WIRE.four || wire === WIRE.eight) cursor.at += wire === WIRE.four ? 4 : 8;
    else return undefined;
    if (cursor.at > bytes.length) return undefined;
    nodes.push({ head, content: bytes.subarray(start, cursor.at) });
  }
  return nodes;
}

function varintAt(bytes: Buffer, cursor: { at: number }): number | undefined {
  let value = 0;
  for (let scale = 1; cursor.at < bytes.length && scale < 128 ** 10; scale *= 128) {
    const byte = bytes[cursor.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  return undefined;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

function written(nodes: readonly TreeNode[]): Buffer {
  return Buffer.concat(
    nodes.flatMap(({ head, content }) => {
      const wire = head % 8;
      const bytes = Array.isArray(content) ? written(content) : content;
      const isCounted = wire === WIRE.bytes || Array.isArray(content);
      const tag = varint(BigInt(isCounted ? head - wire + WIRE.bytes : head));
      return isCounted ? [tag, varint(BigInt(bytes.length)), bytes] : [tag, bytes];
    }),
  );
}

/** Mostly the number of another field. */
const changedHead = (random: Random, head: number): number => {
  const number = random.pick([1, 2, 3, 4, 5, 1 + random.below(60), 536_870_911, 19_000, Math.floor(head / 8)]);
  return number * 8 + (head % 8);
};

const INTEGERS = [0n, 1n, 2n, 127n, 128n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];

function changedLeaf(random: Random, { head, content }: TreeNode): Buffer {
  const wire = head % 8;
  if (wire === WIRE.bytes) return changedBytes(random, content as Buffer);
  if (wire === WIRE.varint) return varint(random.pick(INTEGERS));
  return Buffer.from(Array.from({ length: wire === WIRE.four ? 4 : 8 }, () => random.pick([0, 0xff, 0x7f, 0x80, random.below(256)])));
}
