/** One answer, or one connection, that holds bytes which its client has not taken. */
export interface UnsentHolder {
  /** Whose request it is; empty where that is not known. */
  readonly userName: string;
  /** A watch or another stream whose client may rightly take nothing for long. */
  readonly isLongRunning: boolean;
  /** How much the client has taken so far; never less than before. */
  takenBytes(): number;
  /** Gives up the answer and all that it holds. */
  cutOff(message: string): void;
}

/** What one holder has told of itself. It is closed when nothing waits any more. */
export interface UnsentClaim {
  set(sizeBytes: number): void;
  close(): void;
}

/** Where connections tell of answers that wait for their clients; one for all of a server. */
export interface UnsentLedger {
  open(holder: UnsentHolder): UnsentClaim;
}

/** For whom an answer is made, as far as that is known yet. */
export interface Requester {
  readonly clientName: string;
  readonly isLongRunning: boolean;
}
