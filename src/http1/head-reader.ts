const HEAD_END = '\r\n\r\n';
const FIRST_BUFFER_BYTES = 4096;
/** What is looked at of a head that is not over. */
const BEGINNING_BYTES = 200;

/** What a head has to keep to. */
export interface HeadRules {
  maxBytes: number;
  tooLong(): Error;
  /** Throws where what begins like this cannot become a head: it is not waited for. */
  checkBeginning(beginning: string): void;
}

/** Finds the end of heads in what arrives. */
export class HeadReader {
  readonly #rules: HeadRules;
  /** What has come of a head that is not over, with room for more. */
  #pending: Buffer | undefined;
  #pendingBytes = 0;

  constructor(rules: HeadRules) {
    this.#rules = rules;
  }

  /** A head has begun, and is not over. */
  get isPending(): boolean {
    return this.#pendingBytes > 0;
  }

  /** The head's text without the empty line, and where behind `start` it ends; undefined where more must come. Throws where it is too long. */
  read(bytes: Buffer, start: number): { text: string; end: number } | undefined {
    const { maxBytes, tooLong } = this.#rules;
    const pendingBytes = this.#pendingBytes;
    if (pendingBytes === 0) {
      const found = bytes.indexOf(HEAD_END, start, 'latin1');
      if (found >= 0 && found - start <= maxBytes) return { text: bytes.toString('latin1', start, found), end: found + HEAD_END.length };
    }
    this.#keep(bytes, start);
    const found = this.#pending!.subarray(0, this.#pendingBytes).indexOf(HEAD_END, Math.max(0, pendingBytes - HEAD_END.length), 'latin1');
    if (found > maxBytes || (found === -1 && this.#pendingBytes > maxBytes)) throw tooLong();
    if (found === -1) return this.#expectMore();
    const text = this.#pending!.toString('latin1', 0, found);
    this.#pending = undefined;
    this.#pendingBytes = 0;
    return { text, end: start + found + HEAD_END.length - pendingBytes };
  }

  #expectMore(): undefined {
    this.#rules.checkBeginning(this.#pending!.toString('latin1', 0, Math.min(this.#pendingBytes, BEGINNING_BYTES)));
  }

  /** Doubles its room where there is not enough: a head that comes byte by byte is not copied as often. */
  #keep(bytes: Buffer, start: number): void {
    const neededBytes = this.#pendingBytes + bytes.length - start;
    if (!this.#pending || neededBytes > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BUFFER_BYTES, neededBytes * 2));
      this.#pending?.copy(larger, 0, 0, this.#pendingBytes);
      this.#pending = larger;
    }
    bytes.copy(this.#pending, this.#pendingBytes, start);
    this.#pendingBytes = neededBytes;
  }
}
