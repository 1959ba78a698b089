import { ApiError, type StatusCause, isApiError } from '../api/errors.ts';
import type { StoredCodec } from './codec.ts';
import { isEncrypted } from './unreadable.ts';

/* AllowUnsafeMalformedObjectDeletion: what can not be read is told apart, and told of by its key, so that it can be found and deleted (etcd3/corrupt_obj_deleter.go). */

/** A stored value that can not be decrypted, or decoded. As it is, it is what a write is answered that needs the object. */
export class CorruptObject extends ApiError {
  /** What is wrong, without the key. */
  readonly why: string;

  constructor(kind: 'undecodable' | 'untransformable', revision: number, message: string) {
    const why =
      kind === 'undecodable' ? `object not decodable revision=${revision}: ${message}` : `data from the storage is not transformable revision=0: ${message}`;
    if (kind === 'undecodable') super(500, undefined, why);
    else super(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
    this.why = why;
  }

  /** The same, of the object at a key. */
  at(key: string): string {
    return `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${this.why}`;
  }
}

/** The same codec; a value that it can not read is a CorruptObject. */
export const withCorruptObjects = (codec: StoredCodec): StoredCodec => ({
  encode: (object) => codec.encode(object),
  toClientBytes(value, revision, allocate) {
    try {
      return codec.toClientBytes(value, revision, allocate);
    } catch (error) {
      throw new CorruptObject(isEncrypted(value) ? 'untransformable' : 'undecodable', revision, messageOf(error as Error));
    }
  },
});

/** Without the words that an answer of 500 begins with. */
const messageOf = (error: Error): string =>
  isApiError(error, 'InternalError') ? (error.status.details?.causes?.[0]?.message ?? error.message) : error.message;

/** As many as a list tells of. */
const MAX_CAUSES = 100;

/** What a list is answered that has found some, in the order of their keys. */
export function storageReadError(resource: { group: string; resource: string }, found: readonly { key: string; error: CorruptObject }[]): ApiError {
  const causes: StatusCause[] = found
    .slice(0, MAX_CAUSES)
    .map(({ key, error }) => ({ reason: 'UnexpectedServerResponse', message: error.at(key), field: key }));
  if (found.length > MAX_CAUSES) causes.push({ reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' });
  const { group, resource: kind } = resource;
  const name = group === '' ? kind : `${kind}.${group}`;
  return new ApiError(500, 'StorageReadError', `failed to read one or more ${name} from the storage`, {
    name: 'list',
    ...(group !== '' && { group }),
    kind,
    causes,
  });
}
