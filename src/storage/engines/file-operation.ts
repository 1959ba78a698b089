/** One change of what the store's file holds, at the level of the file's own keys. */
export interface FileOperation {
  readonly key: Buffer;
  /** Undefined removes the key. */
  readonly value: Buffer | undefined;
  /** Of the entry, beside its value. */
  readonly version: number;
}

export interface FileEntry {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly version: number;
}

/** Keys from `start` on, without itself where that is excluded, and before `end`, in the order of their bytes. */
export interface FileBounds {
  readonly start: Buffer;
  readonly end: Buffer;
  readonly exclusiveStart?: boolean;
}
