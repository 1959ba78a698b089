import { randomInt } from 'node:crypto';
import type { RangeAllocation } from '../../apis/facts/types/core-v1.ts';
import { AllocationError, RangeFull } from '../../registry/allocators.ts';
import { Bitmap } from './bitmap.ts';

export interface PortRange {
  first: number;
  last: number;
}

/** As upstream writes it. */
export const portRangeText = ({ first, last }: PortRange): string => `${first}-${last}`;

/** Undefined where it is no range. */
export function parsePortRange(text: string): PortRange | undefined {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  return first === undefined ? undefined : { first: Number(first), last: Number(last) };
}

/** Which ports of a range are taken, in memory. */
export class PortSet {
  readonly range: PortRange;
  readonly #bitmap: Bitmap;
  readonly #staticBand: number;

  constructor(range: PortRange, data = '') {
    const size = range.last - range.first + 1;
    this.range = range;
    this.#bitmap = new Bitmap(size, data);
    this.#staticBand = staticBandOf(size);
  }

  has(port: number): boolean {
    return this.contains(port) && this.#bitmap.has(port - this.range.first);
  }

  contains(port: number): boolean {
    return port >= this.range.first && port <= this.range.last;
  }

  /** Throws AllocationError where it is taken already, or not of the range. */
  take(port: number): void {
    if (!this.contains(port)) throw new AllocationError(`provided port is not in the valid range. The range of valid ports is ${portRangeText(this.range)}`);
    if (this.has(port)) throw new AllocationError('provided port is already allocated');
    this.#bitmap.add(port - this.range.first);
  }

  /** From the upper part of the range while there are any, so that ports which users choose, mostly low ones, stay free (KEP-3668). Throws RangeFull. */
  takeAny(): number {
    const { first, last } = this.range;
    const port = this.#findBetween(first + this.#staticBand, last) ?? this.#findBetween(first, first + this.#staticBand - 1);
    if (port === undefined) throw new RangeFull();
    this.take(port);
    return port;
  }

  release(port: number): void {
    if (this.contains(port)) this.#bitmap.delete(port - this.range.first);
  }

  *taken(): Iterable<number> {
    for (let port = this.range.first; port <= this.range.last; port++) if (this.has(port)) yield port;
  }

  /** As it is stored; what else `current` has stays. */
  stored(current: RangeAllocation | undefined): RangeAllocation {
    const { metadata = {} } = current ?? {};
    return { kind: 'RangeAllocation', apiVersion: 'v1', metadata, range: portRangeText(this.range), data: this.#bitmap.toBase64() };
  }

  #findBetween(first: number, last: number): number | undefined {
    const size = last - first + 1;
    if (size <= 0) return undefined;
    const start = randomInt(size);
    for (let i = 0; i < size; i++) {
      const port = first + ((start + i) % size);
      if (!this.has(port)) return port;
    }
    return undefined;
  }
}

/** min(max(16, size / 32), 128), and none in a range too small to share. */
const staticBandOf = (size: number): number => (size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128));
