/**
 * A backup file, so that any version can read any older one, whatever database wrote it. Numbers are big-endian:
 *
 *     "binnacle backup\n"  the format (4 bytes)  the store's revision (8)  how many objects follow (8)
 *     each object:         length of its key (4)  length of its value (4)  its revision (8)  when it expires, in ms since 1970; 0: never (8)  key  value
 *
 * Where the history is in it, it follows the objects, as such: changes that are kept for it, `\u0001kept/` and their revision; since when, `\u0001since/`; and what
 * is in its own file, `\u0001history/` and the key there. The format is 2 then.
 *
 *     the end:             0 (4)  SHA-256 of all that stands before it (32)
 */
export const MAGIC = Buffer.from('binnacle backup\n');
export const FORMAT = 2;
const FORMAT_WITHOUT_HISTORY = 1;
export const KEPT_PREFIX = '\u0001kept/';
export const SINCE_PREFIX = '\u0001since/';
export const HISTORY_PREFIX = '\u0001history/';
export const HEAD_BYTES = MAGIC.length + 4 + 8 + 8;
export const OBJECT_HEAD_BYTES = 4 + 4 + 8 + 8;
export const DIGEST_BYTES = 32;
/** Beyond what any server takes: a file that says more is broken. */
export const MAX_VALUE_BYTES = 256 * 1024 * 1024;

export interface BackupHead {
  revision: number;
  count: number;
  hasHistory?: boolean;
}

export interface BackupObject {
  key: string;
  value: Buffer;
  revision: number;
  expiresAtMs: number | undefined;
}

export function encodeHead({ revision, count, hasHistory = false }: BackupHead): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32BE(hasHistory ? FORMAT : FORMAT_WITHOUT_HISTORY, MAGIC.length);
  head.writeBigUInt64BE(BigInt(revision), MAGIC.length + 4);
  head.writeBigUInt64BE(BigInt(count), MAGIC.length + 12);
  return head;
}

export function encodeObjectHead({ key, value, revision, expiresAtMs = 0 }: BackupObject): Buffer {
  const keyBytes = Buffer.from(key);
  const head = Buffer.alloc(OBJECT_HEAD_BYTES + keyBytes.length);
  head.writeUInt32BE(keyBytes.length, 0);
  head.writeUInt32BE(value.length, 4);
  head.writeBigUInt64BE(BigInt(revision), 8);
  head.writeBigUInt64BE(BigInt(Math.trunc(expiresAtMs)), 16);
  keyBytes.copy(head, OBJECT_HEAD_BYTES);
  return head;
}
