import { Readable } from 'node:stream';
import { BytePieces } from '../util/byte-pieces.ts';
import { brokenOff, tooLarge } from './body.ts';

/** Somebody waits for all of it. */
interface Reader {
  limitBytes: number;
  resolve(body: Buffer): void;
  reject(error: Error): void;
}

/** The body of a request as it comes, for one who wants all of it, or passes it on; what nobody has asked for waits. */
export class IncomingBody {
  /** So much was taken in, and as much more may come. */
  readonly #release: (sizeBytes: number) => void;
  #waiting = new BytePieces();
  #sizeBytes = 0;
  #state: 'coming' | 'whole' | 'broken off' = 'coming';
  #reader: Reader | undefined;
  #passedOn: PassedOnBody | undefined;

  constructor(release: (sizeBytes: number) => void) {
    this.#release = release;
  }

  push(piece: Buffer): void {
    if (this.#passedOn) return this.#passedOn.give(piece);
    this.#waiting.add(piece);
    this.#sizeBytes += piece.length;
    if (this.#reader) this.#takeIn(this.#reader, piece.length);
  }

  end(): void {
    this.#state = 'whole';
    this.#passedOn?.finish();
    this.#reader?.resolve(this.#waiting.take());
    this.#reader = undefined;
  }

  /** Nothing more comes, and that was not all, or nobody wants it. */
  breakOff(): void {
    // What was whole is not there any more either: one who asks for it now must not take it for empty.
    this.#state = 'broken off';
    this.#waiting = new BytePieces();
    this.#passedOn?.destroy();
    this.#reader?.reject(brokenOff());
    this.#reader = undefined;
  }

  /** As Exchange.readBody. */
  read(limitBytes: number): Promise<Buffer> {
    if (this.#sizeBytes > limitBytes) return Promise.reject(tooLarge(limitBytes));
    if (this.#state === 'whole') return Promise.resolve(this.#waiting.take());
    if (this.#state === 'broken off') return Promise.reject(brokenOff());
    return new Promise((resolve, reject) => {
      this.#reader = { limitBytes, resolve, reject };
      if (this.#sizeBytes > 0) this.#release(this.#sizeBytes);
    });
  }

  /** As Exchange.openBody. */
  open(): Readable {
    const body = (this.#passedOn = new PassedOnBody(this.#release));
    if (this.#sizeBytes > 0) body.give(this.#waiting.take());
    if (this.#state === 'whole') body.finish();
    if (this.#state === 'broken off') body.destroy();
    return body;
  }

  #takeIn(reader: Reader, sizeBytes: number): void {
    if (this.#sizeBytes <= reader.limitBytes) return this.#release(sizeBytes);
    this.#waiting = new BytePieces();
    this.#reader = undefined;
    reader.reject(tooLarge(reader.limitBytes));
  }
}

/** What its reader has no room for stays with it, and the client's window closes. */
class PassedOnBody extends Readable {
  readonly #release: (sizeBytes: number) => void;
  readonly #waiting = new BytePieces();
  #heldBytes = 0;
  #isWanted = true;
  #isWhole = false;

  constructor(release: (sizeBytes: number) => void) {
    super();
    this.#release = release;
  }

  give(piece: Buffer): void {
    if (this.#isWanted) this.#pass(piece);
    else this.#waiting.add(piece);
  }

  finish(): void {
    this.#isWhole = true;
    if (this.#waiting.isEmpty) this.push(null);
  }

  #pass(piece: Buffer): void {
    this.#isWanted = this.push(piece);
    if (this.#isWanted) this.#release(piece.length);
    else this.#heldBytes += piece.length;
  }

  override _read(): void {
    const heldBytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#isWanted = true;
    if (heldBytes > 0) this.#release(heldBytes);
    if (this.#waiting.isEmpty) return;
    this.#pass(this.#waiting.take());
    if (this.#isWhole) this.push(null);
  }
}
