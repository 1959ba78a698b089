export type EtcdOperation = 'get' | 'list' | 'create' | 'update' | 'delete';

/** One call, of those that an operation takes. */
export interface CallObserver {
  sent(): void;
  received(): void;
  /** Absent: it succeeded. */
  ended(error?: Error): void;
}

/** What metrics are told of. */
export interface EtcdObserver {
  /** A call of gRPC begins. `path`: `/etcdserverpb.KV/Range`. */
  call?(this: void, path: string, type: 'unary' | 'bidi_stream'): CallObserver;
  /** A request begins; its end is told to what this answers. */
  begin(operation: EtcdOperation, key: string): (isSuccess: boolean) => void;
  /** A lease takes no more objects; it has so many. */
  onLeaseRetired?(this: void, objects: number): void;
  /** A member has told how far a watch is. */
  onProgress?(this: void): void;
}

const NOTHING = (): void => undefined;

export const SILENT: EtcdObserver = { begin: () => NOTHING };
