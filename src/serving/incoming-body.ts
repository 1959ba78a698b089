import { Readable } from 'node:stream';
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
  #pieces: Buffer[] = [];
  #sizeBytes = 0;
  #state: 'coming' | 'whole' | 'broken off' = 'coming';
  #reader: Reader | undefined;
  #passedOn: PassedOnBody | undefined;

  constructor(release: (sizeBytes: number) => void) {
    this.#release = release;
  }

  push(piece: Buffer): void {
    if (this.#passedOn) return this.#passedOn.give(piece);
    this.#pieces.push(piece);
    this.#sizeBytes += piece.length;
    if (this.#reader) this.#takeIn(this.#reader, piece.length);
  }

  end(): void {
    this.#state = 'whole';
    this.#passedOn?.push(null);
    this.#reader?.resolve(this.#all());
    this.#reader = undefined;
  }

  /** Nothing more comes, and that was not all, or nobody wants it. */
  breakOff(): void {
    if (this.#state === 'coming') this.#state = 'broken off';
    this.#pieces = [];
    this.#passedOn?.destroy();
    this.#reader?.reject(brokenOff());
    this.#reader = undefined;
  }

  /** As Exchange.readBody. */
  read(limitBytes: number): Promise<Buffer> {
    if (this.#sizeBytes > limitBytes) return Promise.reject(tooLarge(limitBytes));
    if (this.#state === 'whole') return Promise.resolve(this.#all());
    if (this.#state === 'broken off') return Promise.reject(brokenOff());
    return new Promise((resolve, reject) => {
      this.#reader = { limitBytes, resolve, reject };
      if (this.#sizeBytes > 0) this.#release(this.#sizeBytes);
    });
  }

  /** As Exchange.openBody. */
  open(): Readable {
    const body = (this.#passedOn = new PassedOnBody(this.#release));
    for (const piece of this.#pieces) body.give(piece);
    this.#pieces = [];
    if (this.#state === 'whole') body.push(null);
    if (this.#state === 'broken off') body.destroy();
    return body;
  }

  #takeIn(reader: Reader, sizeBytes: number): void {
    if (this.#sizeBytes <= reader.limitBytes) return this.#release(sizeBytes);
    this.#pieces = [];
    this.#reader = undefined;
    reader.reject(tooLarge(reader.limitBytes));
  }

  #all(): Buffer {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }
}

/** What its reader has no room for stays with it, and the client's window closes. */
class PassedOnBody extends Readable {
  readonly #release: (sizeBytes: number) => void;
  #heldBytes = 0;

  constructor(release: (sizeBytes: number) => void) {
    super();
    this.#release = release;
  }

  give(piece: Buffer): void {
    if (this.push(piece)) this.#release(piece.length);
    else this.#heldBytes += piece.length;
  }

  override _read(): void {
    if (this.#heldBytes === 0) return;
    const heldBytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#release(heldBytes);
  }
}
