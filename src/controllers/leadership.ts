import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Client, ResourceClient } from '../client/client.ts';
import type { ApiObject } from '../api/api-object.ts';
import { delay } from '../util/delay.ts';
import { isApiError } from '../api/errors.ts';
import { microTimeOf } from '../util/time.ts';
import { type ControllerOptions, FIELD_MANAGER } from './controller.ts';
import { onAbort } from '../util/on-abort.ts';

const NAMESPACE = 'kube-system';
/** Not kube-controller-manager's own, which would wait for as long as a server has it. */
export const LEASE_NAME = 'binnacle-controllers';

/** As client-go's leaderelection has them by default. */
const TIMES: LeadershipTimes = { leaseMs: 15_000, renewWithinMs: 10_000, retryMs: 2_000 };

export interface LeadershipTimes {
  /** Others wait for so long after the last renewal that they saw. */
  leaseMs: number;
  /** Who could not renew for so long stops. */
  renewWithinMs: number;
  retryMs: number;
}

interface Lease extends ApiObject {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
}

/** Goes on until its signal; resolves when what was there at the start has been seen to. */
type Work = (signal: AbortSignal) => Promise<void>;

export interface LeadershipOptions extends Pick<ControllerOptions, 'report' | 'now'> {
  times?: LeadershipTimes;
  /** Default: that of the controllers of `--controllers`. */
  lease?: { name: string; fieldManager: string };
  /** Absent where nothing is counted. */
  metrics?: LeadershipMetrics;
}

export interface LeadershipMetrics {
  /** Whether this server holds the lease. */
  held(isHeld: boolean): void;
  /** Somebody else has written the lease since this server, which holds it, has renewed it. */
  interfered(): void;
}

/**
 * Of several servers on one store one works: the one that holds the Lease (client-go/tools/leaderelection). Who loses it stops, and begins anew when it
 * gets it again.
 */
export class Leadership {
  readonly #client: Client;
  readonly #options: LeadershipOptions;
  readonly #times: LeadershipTimes;
  readonly #lease: { name: string; fieldManager: string };
  readonly #identity = `${hostname()}_${randomUUID()}`;
  readonly #works: Work[] = [];
  readonly #seen = { version: '', atMs: 0 };
  #firstTerm: Promise<Promise<void>[]> | undefined;
  #term: AbortController | undefined;
  #lossTimer: NodeJS.Timeout | undefined;
  /** The lease's resourceVersion after the last renewal. */
  #writtenVersion: string | undefined;

  constructor(client: Client, options: LeadershipOptions) {
    this.#client = client;
    this.#options = options;
    this.#times = options.times ?? TIMES;
    this.#lease = options.lease ?? { name: LEASE_NAME, fieldManager: FIELD_MANAGER };
    options.metrics?.held(false);
  }

  /** Does the work whenever this server leads, until the signal. Resolves when the first pass is done, or another server was found to lead. All works are to be given in one turn. */
  async lead(signal: AbortSignal, work: Work): Promise<void> {
    const index = this.#works.push(work) - 1;
    this.#firstTerm ??= Promise.resolve().then(() => this.#begin(signal));
    await (
      await this.#firstTerm
    )[index];
  }

  /** The first passes of all works, where this server leads at once. */
  async #begin(signal: AbortSignal): Promise<Promise<void>[]> {
    // Not after an attempt that is under way: it may wait for a store that does not answer.
    onAbort(signal, () => this.#resign());
    const passes = await this.#attempt(signal);
    void this.#goOn(signal);
    return passes;
  }

  async #goOn(signal: AbortSignal): Promise<void> {
    for (;;) {
      await delay(this.#times.retryMs, signal);
      if (signal.aborted) return;
      for (const pass of await this.#attempt(signal)) pass.catch((error: unknown) => this.#options.report(error as Error));
    }
  }

  /** Takes or renews the lease. Answers with the works' first passes where a term began. */
  async #attempt(stop: AbortSignal): Promise<Promise<void>[]> {
    let isHeld = false;
    try {
      isHeld = await this.#hold();
    } catch (error) {
      this.#options.report(error as Error);
      // Until the time is up nobody else can have it.
      return [];
    }
    if (!isHeld) {
      this.#endTerm();
      return [];
    }
    clearTimeout(this.#lossTimer);
    this.#lossTimer = setTimeout(() => this.#endTerm(), this.#times.renewWithinMs).unref();
    if (this.#term) return [];
    if (stop.aborted) {
      this.#resign();
      return [];
    }
    const { signal } = (this.#term = new AbortController());
    this.#options.metrics?.held(true);
    return this.#works.map((work) => work(signal));
  }

  #resign(): void {
    this.#endTerm();
    void this.#release().catch(() => undefined);
  }

  #endTerm(): void {
    clearTimeout(this.#lossTimer);
    if (this.#term === undefined) return;
    this.#term.abort();
    this.#term = undefined;
    this.#options.metrics?.held(false);
  }

  get #leases(): ResourceClient<Lease> {
    return this.#client.resource<Lease>('coordination.k8s.io', 'leases', this.#lease.fieldManager);
  }

  async #hold(): Promise<boolean> {
    const found = await this.#leases.get(NAMESPACE, this.#lease.name);
    if (found === undefined) return this.#create();
    this.#observe(found);
    if (!this.#mayTake(found)) return false;
    if (found.spec.holderIdentity === this.#identity && found.metadata.resourceVersion !== this.#writtenVersion) this.#options.metrics?.interfered();
    let isTaken = false;
    const written = await this.#leases.update(NAMESPACE, this.#lease.name, (lease) => {
      isTaken = lease.metadata.resourceVersion === found.metadata.resourceVersion;
      if (isTaken) lease.spec = this.#renewed(lease.spec);
      return isTaken;
    });
    if (isTaken) this.#writtenVersion = written.metadata.resourceVersion;
    return isTaken;
  }

  async #create(): Promise<boolean> {
    const metadata = { name: this.#lease.name, namespace: NAMESPACE };
    await created(this.#client.resource('', 'namespaces').create('', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: NAMESPACE } }));
    const lease: Lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata, spec: this.#renewed({ leaseTransitions: -1 }) };
    const written = await created(this.#leases.create(NAMESPACE, lease));
    this.#writtenVersion = written?.metadata.resourceVersion;
    return written !== undefined;
  }

  /** Clocks of servers may differ: a lease is over when it did not change for its time, by the own clock. */
  #observe({ metadata: { resourceVersion = '' } }: Lease): void {
    if (this.#seen.version === resourceVersion) return;
    this.#seen.version = resourceVersion;
    this.#seen.atMs = performance.now();
  }

  #mayTake({ spec: { holderIdentity = '', leaseDurationSeconds = 0 } }: Lease): boolean {
    return holderIdentity === '' || holderIdentity === this.#identity || performance.now() > this.#seen.atMs + leaseDurationSeconds * 1000;
  }

  #renewed(spec: Lease['spec']): Lease['spec'] {
    const now = microTimeOf(this.#options.now());
    const renewal = { leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000), renewTime: now };
    if (spec.holderIdentity === this.#identity) return { ...spec, ...renewal };
    return { ...spec, ...renewal, holderIdentity: this.#identity, acquireTime: now, leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
  }

  /** So that the next need not wait. */
  async #release(): Promise<void> {
    await this.#leases.update(NAMESPACE, this.#lease.name, (lease) => {
      if (lease.spec.holderIdentity !== this.#identity) return false;
      const now = microTimeOf(this.#options.now());
      lease.spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
      return true;
    });
  }
}

/** Undefined where it is there already: another server may have been faster. */
async function created<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation;
  } catch (error) {
    if (isApiError(error, 'AlreadyExists')) return undefined;
    throw error;
  }
}
