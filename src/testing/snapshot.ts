import type { ServerImage } from '../compose/server-image.ts';
import type { Snapshot } from './server-interface.ts';

export class TakenSnapshot implements Snapshot {
  readonly resourceVersion: string;
  readonly #image: ServerImage;

  constructor(image: ServerImage) {
    this.#image = image;
    this.resourceVersion = String(image.store.revision);
  }

  /** Throws for what `server.snapshot()` has not returned. */
  static imageOf(snapshot: Snapshot): ServerImage {
    if (!(snapshot instanceof TakenSnapshot)) throw new TypeError('not a snapshot: server.snapshot() returns one');
    return snapshot.#image;
  }
}
