import { randomInt } from 'node:crypto';
import { AllocationError, type PortAllocator, type PortOperation, RangeFull } from '../../registry/allocators.ts';

export interface PortRange {
  first: number;
  last: number;
}

/**
 * Node ports of all services, in this process' memory: it is the store's only writer, and takes the ports in use from the services at its start. Random ports
 * come from the upper part of the range while there are any, so that ports which users choose, mostly low ones, stay free (KEP-3668).
 */
export class NodePorts implements PortAllocator {
  readonly #range: PortRange;
  readonly #staticBand: number;
  readonly #used = new Set<number>();

  constructor(range: PortRange) {
    this.#range = range;
    this.#staticBand = staticBandOf(range.last - range.first + 1);
  }

  /** At start: what stored services have, whether or not the range still holds it. */
  restore(ports: Iterable<number>): void {
    for (const port of ports) this.#used.add(port);
  }

  release(port: number): void {
    this.#used.delete(port);
  }

  begin(dryRun: boolean): PortOperation {
    const taken: number[] = [];
    const given: number[] = [];
    const take = (port: number): number => {
      taken.push(port);
      this.#used.add(port);
      return port;
    };
    const undo = (): void => taken.splice(0).forEach((port) => this.#used.delete(port));
    return {
      allocate: (port) => void take(this.#check(port)),
      allocateAny: () => take(this.#findFree()),
      releaseLater: (port) => void given.push(port),
      commit: () => {
        if (dryRun) return undo();
        taken.length = 0;
        given.forEach((port) => this.#used.delete(port));
      },
      revert: undo,
    };
  }

  #check(port: number): number {
    const { first, last } = this.#range;
    if (port < first || port > last) throw new AllocationError(`provided port is not in the valid range. The range of valid ports is ${first}-${last}`);
    if (this.#used.has(port)) throw new AllocationError('provided port is already allocated');
    return port;
  }

  #findFree(): number {
    const { first, last } = this.#range;
    const port = this.#findBetween(first + this.#staticBand, last) ?? this.#findBetween(first, first + this.#staticBand - 1);
    if (port === undefined) throw new RangeFull();
    return port;
  }

  #findBetween(first: number, last: number): number | undefined {
    const size = last - first + 1;
    if (size <= 0) return undefined;
    const start = randomInt(size);
    for (let i = 0; i < size; i++) {
      const port = first + ((start + i) % size);
      if (!this.#used.has(port)) return port;
    }
    return undefined;
  }
}

/** min(max(16, size / 32), 128), and none in a range too small to share. */
const staticBandOf = (size: number): number => (size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128, size));
