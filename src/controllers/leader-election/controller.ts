import type { Lease } from '../../apis/facts/types/coordination-v1.ts';
import type { LeaseCandidate } from '../../apis/facts/types/coordination-v1beta1.ts';
import { isApiError } from '../../api/errors.ts';
import type { ResourceClient } from '../../client/client.ts';
import { delay } from '../../util/delay.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { microTimeOf } from '../../util/time.ts';
import { type Controller, type ControllerOptions, stopOnAbort } from '../controller.ts';
import { WorkQueue } from '../work-queue.ts';
import { type Elected, applyElection, electedLease, electionStep, isCandidateExpired, isUnanswered } from './election.ts';

const GROUP = 'coordination.k8s.io';
/** A lease with candidates is looked at so often, since nothing tells when it expires. */
const REQUEUE_MS = 5000;
const COLLECTION_MS = 30 * 60_000;
/** Of one lease, so many have a vote, in the order in which they came: all of them are looked at whenever one says that it lives. */
const MAX_CANDIDATES = 500;

/** Upstream's name of the controller, its queue, and the Lease under which one of several servers runs it. */
export const LEADER_ELECTION_CONTROLLER = 'leader-election-controller';

/** Picks the holders of leases for which candidates are registered, and forgets candidates that are silent (KEP-4355). */
export const electLeaders: Controller = async (client, options) => {
  const leases = client.resource<Lease>(GROUP, 'leases');
  const candidates = client.resource<LeaseCandidate>(GROUP, 'leasecandidates');
  await Promise.all([leases.informer.synced, candidates.informer.synced]);
  if (options.signal.aborted) return;
  new LeaderElection(leases, candidates, options).start();
  void collectCandidates(candidates, options);
};

class LeaderElection {
  readonly #leases: ResourceClient<Lease>;
  readonly #candidates: ResourceClient<LeaseCandidate>;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** Names of candidates by the key of their lease: a lease of which there are none, such as every node's, is nobody's concern here. */
  readonly #namesByLease = new Map<string, Set<string>>();

  constructor(leases: ResourceClient<Lease>, candidates: ResourceClient<LeaseCandidate>, options: ControllerOptions) {
    this.#leases = leases;
    this.#candidates = candidates;
    this.#options = options;
    this.#queue = new WorkQueue((key) => this.#visit(key), { ...options, name: LEADER_ELECTION_CONTROLLER });
  }

  start(): void {
    stopOnAbort(this.#options.signal, [
      this.#candidates.informer.onChange((candidate, old) => this.#see(candidate, old)),
      this.#leases.informer.onChange(
        (lease, old) => this.#seeLease((lease ?? old)!),
        () => this.#namesByLease.size > 0,
      ),
    ]);
    const see = (candidate: LeaseCandidate): void => this.#see(candidate, undefined);
    void this.#candidates.informer.forEach('', see, this.#options.signal);
  }

  #see(candidate: LeaseCandidate | undefined, old: LeaseCandidate | undefined): void {
    if (candidate === undefined) this.#forget(old!);
    else this.#remember(candidate);
    // One that has just been asked: the election is under way.
    const { spec, metadata } = (candidate ?? old)!;
    if (!isUnanswered(spec)) this.#queue.add(keyOf(metadata.namespace, spec.leaseName));
  }

  #remember({ metadata: { namespace, name = '' }, spec }: LeaseCandidate): void {
    const key = keyOf(namespace, spec.leaseName);
    const names = this.#namesByLease.get(key);
    if (names) {
      if (names.size < MAX_CANDIDATES) names.add(name);
    } else this.#namesByLease.set(key, new Set([name]));
  }

  #forget({ metadata: { namespace, name = '' }, spec }: LeaseCandidate): void {
    const key = keyOf(namespace, spec.leaseName);
    const names = this.#namesByLease.get(key);
    names?.delete(name);
    if (names?.size === 0) this.#namesByLease.delete(key);
  }

  #seeLease({ metadata: { namespace, name } }: Lease): void {
    const key = keyOf(namespace, name);
    if (this.#namesByLease.has(key)) this.#queue.add(key);
  }

  /** One step of the election for a lease. Answers when to look at it again. */
  async #visit(key: string): Promise<number | void> {
    const [namespace, name] = key.split('/') as [string, string];
    const now = this.#options.now();
    const candidates = this.#candidatesOf(key, namespace, now);
    if (candidates.length === 0) return;
    try {
      const step = electionStep(this.#leases.informer.get(namespace, name), candidates, now);
      if (step.action === 'give up') return;
      if (step.action === 'ping') await this.#ping(step.candidates);
      if (step.action === 'elect') await this.#elect(namespace, name, step, now);
    } catch (error) {
      if (!this.#options.signal.aborted) this.#options.report(error as Error);
    }
    return REQUEUE_MS;
  }

  #candidatesOf(key: string, namespace: string, now: Date): LeaseCandidate[] {
    const names = this.#namesByLease.get(key) ?? [];
    const candidates = Array.from(names, (name) => this.#candidates.informer.get(namespace, name));
    return candidates.filter((candidate) => candidate !== undefined && !isCandidateExpired(candidate, now)) as LeaseCandidate[];
  }

  async #ping(candidates: readonly LeaseCandidate[]): Promise<void> {
    const slice = new TimeSlice();
    for (const candidate of candidates) {
      await this.#pingOne(candidate, this.#options.now());
      if (slice.isSpent) await slice.next();
    }
  }

  /** One that has changed or gone meanwhile brings its lease back to the queue. */
  async #pingOne({ metadata: { namespace = '', name = '', resourceVersion } }: LeaseCandidate, now: Date): Promise<void> {
    try {
      await this.#candidates.update(namespace, name, (candidate) => {
        if (candidate.metadata.resourceVersion !== resourceVersion) return false;
        candidate.spec.pingTime = microTimeOf(now);
        return true;
      });
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
    }
  }

  async #elect(namespace: string, name: string, elected: Elected, now: Date): Promise<void> {
    try {
      await this.#leases.create(namespace, electedLease(namespace, name, elected, now));
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
      await this.#leases.update(namespace, name, (lease) => applyElection(lease, elected, this.#options.now()));
    }
  }
}

/** Those that were silent for half an hour go; who lives answers long before. */
async function collectCandidates(candidates: ResourceClient<LeaseCandidate>, { signal, now, report }: ControllerOptions): Promise<void> {
  while (!signal.aborted) {
    const expired: LeaseCandidate[] = [];
    const note = (candidate: LeaseCandidate): void => void (isCandidateExpired(candidate, now()) && expired.push(candidate));
    await candidates.informer.forEach('', note, signal);
    const slice = new TimeSlice();
    for (const candidate of expired) {
      await removeUnchanged(candidates, candidate).catch((error: unknown) => report(error as Error));
      if (slice.isSpent) await slice.next();
    }
    await delay(COLLECTION_MS, signal);
  }
}

async function removeUnchanged(candidates: ResourceClient<LeaseCandidate>, { metadata }: LeaseCandidate): Promise<void> {
  const { namespace = '', name = '', resourceVersion = '' } = metadata;
  try {
    await candidates.delete(namespace, name, { preconditions: { resourceVersion } });
  } catch (error) {
    // It has gone, or has renewed.
    if (!isApiError(error, 'NotFound') && !isApiError(error, 'Conflict')) throw error;
  }
}

const keyOf = (namespace: string | undefined, name: string | undefined): string => `${namespace}/${name}`;
