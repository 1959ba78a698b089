/** Told of what happens between this server and the external signer, for metrics. */
export interface SignerObserver {
  /** A call ended; `method` is gRPC's path. */
  called(method: string, elapsedSeconds: number, error?: Error): void;
  /** A token was asked for; the error is also there where what came back is of no use. */
  signed(error?: Error): void;
  /** The keys were asked for. */
  keysFetched(error?: Error): void;
  /** When the keys that are in use were current, says the signer. */
  keysAsOf(timestampSeconds: number): void;
}
