import { withResourceVersion } from './client-json.ts';

/** How stored values become what clients are sent. Engines differ: the embedded one keeps JSON, etcd keeps protobuf. */
export interface StoredCodec {
  /** The object as JSON in its storage version, starting with `{"kind":"K","apiVersion":"V",`, with its resourceVersion. */
  toClientBytes(value: Buffer, revision: number): Buffer;
}

/** Values are stored as the JSON that clients are sent, less the resourceVersion, which is not known before they are stored. */
export const jsonCodec: StoredCodec = { toClientBytes: withResourceVersion };
