import { mappedMemory, sliceOf } from '../mapped-memory.ts';

/** What lies in a slab and can be moved to another one. */
export interface Resident {
  /** Whether its bytes still lie in this slab and are wanted there. */
  livesIn(slab: Slab): boolean;
  /** Adds its bytes anew. */
  move(): void;
}

/** A piece of memory that many values share. */
export class Slab {
  readonly memory: Buffer;
  residents: Resident[] = [];
  usedBytes = 0;
  liveBytes = 0;

  constructor(sizeBytes: number) {
    this.memory = mappedMemory(sizeBytes);
  }
}

/** The first slab is small, for the many resources of which there are few objects; each next one is twice as large, up to the last size. */
const FIRST_SLAB_BYTES = 4 * 1024;
const LAST_SLAB_BYTES = 256 * 1024;
/** Larger values get memory of their own: a slab would waste too much at its end. */
export const LARGEST_RESIDENT_BYTES = 32 * 1024;
/** A slab of which less than this part is live is emptied; so at most 1 / this of the live bytes are held. */
const LIVE_PART_MIN = 0.75;

/**
 * Keeps many small values in few pieces of memory. A Buffer of its own costs each value some 400 bytes beside its content, and holes between what malloc
 * gives and takes; here it costs a number. Values that have left are not overwritten: who still holds a view of them (a watcher's backlog, history) reads
 * on, and a slab goes when nobody refers to it. What still lives in a slab that has become sparse is moved, so that the slab can go.
 */
export class Slabs {
  #open: Slab | undefined;

  /** Where the next value would come to lie: what is written there and then added need not be copied. */
  room(sizeBytes: number): Buffer {
    if (sizeBytes > LARGEST_RESIDENT_BYTES) return Buffer.allocUnsafeSlow(sizeBytes);
    const { memory, usedBytes } = this.#slabFor(sizeBytes);
    return sliceOf(memory, usedBytes, usedBytes + sizeBytes);
  }

  /** Takes the bytes in; the caller keeps the slab and the place. */
  add(resident: Resident, bytes: Buffer): { slab: Slab; start: number } {
    const slab = this.#slabFor(bytes.length);
    const start = slab.usedBytes;
    const isInPlace = bytes.buffer === slab.memory.buffer && bytes.byteOffset === start;
    if (!isInPlace) slab.memory.set(bytes, start);
    slab.usedBytes += bytes.length;
    slab.liveBytes += bytes.length;
    slab.residents.push(resident);
    return { slab, start };
  }

  /** The same for what leaves together with its neighbours, and is never moved. */
  place(bytes: Buffer): { slab: Slab; start: number } {
    const slab = this.#slabFor(bytes.length);
    const start = slab.usedBytes;
    slab.memory.set(bytes, start);
    slab.usedBytes += bytes.length;
    slab.liveBytes += bytes.length;
    return { slab, start };
  }

  /** The value is no longer wanted by the cache itself. */
  release(slab: Slab, sizeBytes: number): void {
    slab.liveBytes -= sizeBytes;
    if (slab !== this.#open && slab.liveBytes < slab.usedBytes * LIVE_PART_MIN) this.#empty(slab);
  }

  #slabFor(sizeBytes: number): Slab {
    const open = this.#open;
    if (open && open.usedBytes + sizeBytes <= open.memory.length) return open;
    const nextBytes = open ? Math.min(open.memory.length * 2, LAST_SLAB_BYTES) : FIRST_SLAB_BYTES;
    this.#open = new Slab(Math.max(nextBytes, sizeBytes));
    if (open && open.liveBytes < open.usedBytes * LIVE_PART_MIN) this.#empty(open);
    return this.#open;
  }

  #empty(slab: Slab): void {
    const { residents } = slab;
    slab.residents = [];
    for (const resident of residents) if (resident.livesIn(slab)) resident.move();
  }
}
