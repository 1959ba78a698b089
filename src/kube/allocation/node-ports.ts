import type { RangeAllocation } from '../../apis/facts/types/core-v1.ts';
import { AllocationError, type PortAllocator, type PortOperation } from '../../registry/allocators.ts';
import type { StoredObjects, ObjectAtRevision } from '../../registry/stored-objects.ts';
import type { AllocationMetrics } from './allocation-metrics.ts';
import { type PortRange, PortSet, portRangeText } from './port-range.ts';

/** Of the one object that says which ports are taken, below `/registry/ranges/`. */
export const NODE_PORTS = 'servicenodeports';

/** Before the first port that a dry run chooses. */
const DUMMY_PORT = 32_768;

type Change<R> = (ports: PortSet) => R;

interface Waiting {
  change: Change<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

type Outcome = { result: unknown } | { error: unknown };

/**
 * Node ports, taken from the bitmap that all servers of a store share, kube-apiservers among them (registry/core/service/allocator/storage). Who writes it
 * first, on condition that it is still what was read, has the port. Changes that come while one is being written are written together by the next.
 */
export class NodePorts implements PortAllocator {
  readonly #range: PortRange;
  readonly #ranges: StoredObjects<RangeAllocation>;
  readonly #metrics: AllocationMetrics | undefined;
  #known: ObjectAtRevision<RangeAllocation> | undefined;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(range: PortRange, ranges: StoredObjects<RangeAllocation>, metrics?: AllocationMetrics) {
    this.#metrics = metrics;
    metrics?.portsTaken(0, range.last - range.first + 1);
    this.#range = range;
    this.#ranges = ranges;
  }

  release(ports: readonly number[]): Promise<void> {
    if (ports.length === 0) return Promise.resolve();
    return this.#change((set) => ports.forEach((port) => set.release(port)));
  }

  begin(dryRun: boolean): PortOperation {
    return dryRun ? this.#rehearse() : this.#perform();
  }

  #perform(): PortOperation {
    const taken: number[] = [];
    const given: number[] = [];
    return {
      allocate: async (port) => {
        await this.#counted(
          'static',
          this.#change((ports) => ports.take(port)),
        );
        taken.push(port);
      },
      allocateAny: async () => {
        const port = await this.#counted(
          'dynamic',
          this.#change((ports) => ports.takeAny()),
        );
        taken.push(port);
        return port;
      },
      releaseLater: (port) => void given.push(port),
      commit: async () => {
        taken.length = 0;
        // The service is stored without them already: what stays behind is found by the repair.
        await this.release(given).catch(() => undefined);
      },
      revert: () => this.release(taken.splice(0)).catch(() => undefined),
    };
  }

  /** Nothing is taken: what is free already may be had, be it of the range or not, and what the server chooses stands for any port, as upstream has it. */
  #rehearse(): PortOperation {
    const mine: number[] = [];
    let copy: Promise<PortSet> | undefined;
    const ports = (): Promise<PortSet> => (copy ??= this.#ranges.get(NODE_PORTS).then((current) => this.#portsIn(current?.object)));
    return {
      allocate: async (port) => {
        if (mine.includes(port) || (await ports()).has(port)) throw new AllocationError('provided port is already allocated');
        mine.push(port);
      },
      allocateAny: async () => {
        // Behind the largest int32 comes the smallest.
        const port = (Math.max(...(mine.length > 0 ? mine : [DUMMY_PORT])) + 1) | 0;
        mine.push(port);
        return port;
      },
      releaseLater() {},
      async commit() {},
      async revert() {},
    };
  }

  async #counted<R>(scope: 'static' | 'dynamic', allocation: Promise<R>): Promise<R> {
    try {
      const allocated = await allocation;
      this.#metrics?.portAllocated(scope, true);
      return allocated;
    } catch (error) {
      this.#metrics?.portAllocated(scope, false);
      throw error;
    }
  }

  #change<R>(change: Change<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ change, resolve: resolve as (result: unknown) => void, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#write(batch);
    }
    this.#isWriting = false;
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    let outcomes: Outcome[] = [];
    try {
      this.#known = await this.#ranges.update(
        NODE_PORTS,
        (current) => {
          const ports = this.#portsIn(current);
          outcomes = batch.map(({ change }) => outcomeOf(change, ports));
          this.#metrics?.portsTaken([...ports.taken()].length, ports.range.last - ports.range.first + 1);
          const next = ports.stored(current);
          return next.data === current?.data ? undefined : next;
        },
        { known: this.#known },
      );
    } catch (error) {
      this.#known = undefined;
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index]!;
      if ('error' in outcome) reject(outcome.error);
      else resolve(outcome.result);
    }
  }

  /** The repair makes the object, and adapts it to another range; until then nothing is to be had. */
  #portsIn(current: RangeAllocation | undefined): PortSet {
    if (current === undefined) throw new AllocationError('cannot allocate resources of type servicenodeportallocations at this time');
    if (current.range !== portRangeText(this.#range)) throw new AllocationError('the provided range does not match the current range');
    return new PortSet(this.#range, current.data ?? '');
  }
}

function outcomeOf(change: Change<unknown>, ports: PortSet): Outcome {
  try {
    return { result: change(ports) };
  } catch (error) {
    return { error };
  }
}
