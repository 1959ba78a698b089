import type { ApiObject } from '../api/api-object.ts';
import { stringifyJson } from '../encoding/json.ts';
import { type Allocate, withResourceVersion } from './client-json.ts';
import { passingMemory } from './passing-memory.ts';
import { isEncrypted, readableValue } from './unreadable.ts';

/** How objects become stored values, and those what clients are sent. Engines differ: the embedded one keeps our JSON, etcd what upstream keeps there. */
export interface StoredCodec {
  /** The stored value of a canonical object, less its resourceVersion, which the store gives it. To be kept it must be copied: see passingMemory. */
  encode(object: ApiObject): Buffer;
  /**
   * The object as JSON in its storage version, starting with `{"kind":"K","apiVersion":"V",`, with its resourceVersion. Throws an ApiError of 500 where
   * the value can not be read. `allocate` may be asked for the memory of what is returned, and for that only.
   */
  toClientBytes(value: Buffer, revision: number, allocate?: Allocate): Buffer;
  /** Whether two values are one to upstream, which stores the same bytes for both. Absent: where they are the same bytes here too. */
  areSame?(value: Buffer, other: Buffer): boolean;
}

/** Values are stored as the JSON that clients are sent, less the resourceVersion, which is not known before they are stored. */
export const jsonCodec: StoredCodec = {
  encode: (object) => bytesOf(stringifyJson(unversioned(object))),
  toClientBytes: (value, revision, allocate) => withResourceVersion(readableValue(value), revision, allocate),
};

/** The same codec; `onError` hears of values that can not be decoded. One that can not be decrypted is none of them. */
export const withDecodeErrors = (codec: StoredCodec, onError: () => void): StoredCodec => ({
  encode: (object) => codec.encode(object),
  ...(codec.areSame && { areSame: codec.areSame.bind(codec) }),
  toClientBytes(value, revision, allocate) {
    try {
      return codec.toClientBytes(value, revision, allocate);
    } catch (error) {
      if (!isEncrypted(value)) onError();
      throw error;
    }
  },
});

function bytesOf(text: string): Buffer {
  const sizeBytes = Buffer.byteLength(text);
  const memory = passingMemory(sizeBytes);
  memory.write(text, sizeBytes === text.length ? 'latin1' : 'utf8');
  return memory;
}

/** The object without what the store knows of it: upstream stores neither its version nor the link to itself that old releases had. */
export function unversioned<T extends ApiObject>(object: T): T {
  if (object.metadata.resourceVersion === undefined && object.metadata.selfLink === undefined) return object;
  const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
  return { ...object, metadata };
}
