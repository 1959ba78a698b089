import type { FieldSet } from './field-set.ts';
import type { Versions } from './updater.ts';

/** One kind's share, so that a client whose objects are all different costs others nothing. */
const MAX_SHAPES = 64;
/** Of all kinds: definitions of custom ones come without bound, and a shape may be 4 KiB. */
export const MAX_SHAPES_IN_ALL = 1024;

/** What creators came to own, by kind and shape (see shape.ts). What it may have forgotten is to be worked out again. */
export class ShapeMemory {
  #byVersions = new WeakMap<Versions, Map<string, FieldSet>>();
  /** At least as many as there are: kinds that are gone are not subtracted. */
  #count = 0;

  get(versions: Versions, shape: string): FieldSet | undefined {
    return this.#byVersions.get(versions)?.get(shape);
  }

  set(versions: Versions, shape: string, fields: FieldSet): void {
    if (this.#count >= MAX_SHAPES_IN_ALL) this.#forgetAll();
    this.#shapesOf(versions).set(shape, fields);
    this.#count++;
  }

  #shapesOf(versions: Versions): Map<string, FieldSet> {
    let known = this.#byVersions.get(versions);
    if (known === undefined) this.#byVersions.set(versions, (known = new Map()));
    if (known.size >= MAX_SHAPES) {
      this.#count -= known.size;
      known.clear();
    }
    return known;
  }

  #forgetAll(): void {
    this.#byVersions = new WeakMap();
    this.#count = 0;
  }
}
