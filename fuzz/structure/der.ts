import { der } from '../../src/encoding/der.ts';
import type { Random } from '../../src/util/test-random.ts';
import { type TreeNode, changedBytes, changedTree } from './tree.ts';

/* Values of DER (X.690), taken apart, changed, and put together again with lengths that fit. */

const CONSTRUCTED = 0x20;
const OCTET_STRING = 0x04;
const MAX_DEPTH = 30;

/** One value like this one; undefined where it is none. */
export function mutateDer(random: Random, bytes: Buffer): Buffer | undefined {
  const nodes = valuesOf(bytes, 0);
  if (nodes?.length !== 1) return undefined;
  const [root] = nodes;
  if (!Array.isArray(root!.content)) return undefined;
  return written([{ ...root!, content: changedTree(random, root!.content, { head: changedTag, leaf: changedLeaf }) }]);
}

/** Undefined where these are no values to their end. What extensions hold in octet strings are values too. */
function valuesOf(bytes: Buffer, depth: number): TreeNode[] | undefined {
  const nodes: TreeNode[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!;
    const first = bytes[at + 1];
    if (first === undefined || (tag & 0x1f) === 0x1f) return undefined;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) return undefined;
    const start = at + 2 + lengthBytes;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    if (start + length > bytes.length) return undefined;
    const content = bytes.subarray(start, start + length);
    const mayHold = depth < MAX_DEPTH && ((tag & CONSTRUCTED) !== 0 || tag === OCTET_STRING) && length > 0;
    nodes.push({ head: tag, content: (mayHold && valuesOf(content, depth + 1)) || content });
    at = start + length;
  }
  return nodes;
}

const written = (nodes: readonly TreeNode[]): Buffer =>
  Buffer.concat(nodes.map(({ head, content }) => der(head, Array.isArray(content) ? written(content) : content)));

const TAGS = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x16, 0x17, 0x18, 0x1e, 0x30, 0x31, 0x80, 0x81, 0x82, 0x86, 0x87, 0xa0, 0xa1, 0xa3];
const changedTag = (random: Random): number => random.pick(TAGS);

const OID = 0x06;
/** Extensions, usages, names and algorithms: what follows depends on them. */
const OIDS = [
  '551d13',
  '551d0f',
  '551d25',
  '551d11',
  '551d1e',
  '551d24',
  '551d20',
  '551d0e',
  '551d23',
  '2b06010505070301',
  '2b06010505070302',
  '551d2500',
  '550403',
  '55040a',
  '2a8648ce3d040302',
  '2a864886f70d01010b',
  '2a864886f70d010105',
  '2b6570',
  '0992268993f22c640101',
].map((hex) => Buffer.from(hex, 'hex'));
const TIMES = ['491231235959Z', '700101000000Z', '99991231235959Z', '20500101000000Z', '000101000000Z', '261116000000+0100'].map((text) => Buffer.from(text));

function changedLeaf(random: Random, { head, content }: TreeNode): Buffer {
  if (head === OID && random.chance(0.7)) return random.pick(OIDS);
  if ((head === 0x17 || head === 0x18) && random.chance(0.7)) return random.pick(TIMES);
  if (head === 0x01) return Buffer.from([random.pick([0, 1, 0xff])]);
  return changedBytes(random, content as Buffer);
}
