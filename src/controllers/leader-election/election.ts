import { OLDEST_EMULATION_VERSION } from '../../apis/coordination/strategy.ts';
import type { Lease } from '../../apis/facts/types/coordination-v1.ts';
import type { LeaseCandidate } from '../../apis/facts/types/coordination-v1beta1.ts';
import { type SemanticVersion, compareSemanticVersions, parseSemanticVersion } from '../../util/semantic-version.ts';
import { microTimeOf, parseMicroTime } from '../../util/time.ts';

/*
 * Who is to hold a lease, from the lease, its candidates and the time alone (pkg/controlplane/controller/leaderelection, KEP-4355). An election has no
 * state of its own: candidates are asked to say that they live (pingTime), those that have said so (renewTime) within the time of an election are voted on.
 */

/** How long candidates have to answer, and for how long an answer counts. */
const ELECTION_MS = 5000;
/** A candidate that was silent for so long is none any more. */
const CANDIDATE_MS = 30 * 60_000;
/** Of a lease that the server makes: the holder writes its own with its first renewal. */
const ELECTED_LEASE_SECONDS = 5;
const ZERO_VERSION: SemanticVersion = { core: [0n, 0n, 0n], prerelease: [] };

/** What is to be done for a lease now. */
export type ElectionStep =
  /** Its holder is the best one, or the candidates that were asked may still answer. */
  | { action: 'wait' }
  /** None of the candidates answers. One that comes back says so by itself. */
  | { action: 'give up' }
  /** These are to be asked whether they live. */
  | { action: 'ping'; candidates: LeaseCandidate[] }
  /** The lease gets this strategy, and this holder where it is the server that picks. */
  | { action: 'elect'; strategy: string; holder: string | undefined };

/** `candidates` are those of the lease that have not expired, at least one. Throws where they do not agree. */
export function electionStep(lease: Lease | undefined, candidates: readonly LeaseCandidate[], now: Date): ElectionStep {
  if (!isElectionNeeded(lease, candidates, now)) return { action: 'wait' };
  const unasked = candidates.filter((candidate) => !hasAnswered(candidate, now) && mayPing(candidate, now));
  if (unasked.length > 0) return { action: 'ping', candidates: unasked };
  if (candidates.some((candidate) => isPending(candidate, now))) return { action: 'wait' };
  const answered = candidates.filter((candidate) => hasAnswered(candidate, now));
  if (answered.length === 0) return { action: 'give up' };
  const strategy = pickStrategy(answered);
  return { action: 'elect', strategy, holder: strategy === OLDEST_EMULATION_VERSION ? nameOf(pickOldestEmulationVersion(answered)) : undefined };
}

function isElectionNeeded(lease: Lease | undefined, candidates: readonly LeaseCandidate[], now: Date): boolean {
  if (lease === undefined || isLeaseExpired(lease, now) || !lease.spec.holderIdentity) return true;
  // Before any of them expires, all are asked.
  if (candidates.some(({ spec }) => microsOf(spec.renewTime) + (CANDIDATE_MS / 2) * 1000 < now.getTime() * 1000)) return true;
  if (pickStrategy(candidates) !== OLDEST_EMULATION_VERSION) return false;
  const best = pickOldestEmulationVersion(candidates);
  return best !== undefined && best.metadata.name !== lease.spec.holderIdentity;
}

/** It was asked, and has time left to answer. */
const isPending = ({ spec }: LeaseCandidate, now: Date): boolean => isUnanswered(spec) && isRecent(spec.pingTime, now);

/** Its last ping is newer than its last renewal. */
export const isUnanswered = ({ pingTime, renewTime }: LeaseCandidate['spec']): boolean =>
  pingTime !== undefined && renewTime !== undefined && microsOf(renewTime) < microsOf(pingTime);

const hasAnswered = (candidate: LeaseCandidate, now: Date): boolean => !isPending(candidate, now) && isRecent(candidate.spec.renewTime, now);

/** One that has not answered the last ping is not asked again: it counts as gone until it renews. */
const mayPing = ({ spec }: LeaseCandidate, now: Date): boolean =>
  spec.pingTime === undefined || (!isUnanswered(spec) && microsOf(spec.pingTime) + ELECTION_MS * 1000 < now.getTime() * 1000);

const isRecent = (time: string | undefined, now: Date): boolean => time !== undefined && microsOf(time) + ELECTION_MS * 1000 > now.getTime() * 1000;

/** The strategy of the candidates with the newest binary, which must have the same one. */
export function pickStrategy(candidates: readonly LeaseCandidate[]): string {
  let best = candidates[0]!;
  for (const candidate of candidates.slice(1)) {
    const order = compareSemanticVersions(binaryOf(best), binaryOf(candidate));
    if (order < 0) best = candidate;
    else if (order === 0 && candidate.spec.strategy !== best.spec.strategy)
      throw new Error(
        `candidates "${best.metadata.name}" and "${candidate.metadata.name}" have the same binary version, and strategies ${best.spec.strategy} and ${candidate.spec.strategy}`,
      );
  }
  return best.spec.strategy ?? '';
}

/** The oldest emulation version, then the oldest binary, then the longest there; undefined where none has versions that can be read. */
export function pickOldestEmulationVersion(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  let best: LeaseCandidate | undefined;
  for (const candidate of candidates) {
    const { emulationVersion = '', binaryVersion } = candidate.spec;
    if (parseSemanticVersion(emulationVersion) === undefined || parseSemanticVersion(binaryVersion) === undefined) continue;
    if (best === undefined || comesBefore(candidate, best)) best = candidate;
  }
  return best;
}

function comesBefore(a: LeaseCandidate, b: LeaseCandidate): boolean {
  const order = compareSemanticVersions(emulationOf(a), emulationOf(b)) || compareSemanticVersions(binaryOf(a), binaryOf(b));
  if (order !== 0) return order < 0;
  return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '');
}

/** A lease as it is made for the elected. */
export const electedLease = (namespace: string, name: string, { strategy, holder }: Elected, now: Date): Lease => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { namespace, name },
  spec: {
    strategy,
    leaseDurationSeconds: ELECTED_LEASE_SECONDS,
    renewTime: microTimeOf(now),
    ...(holder !== undefined && { holderIdentity: holder }),
  },
});

export type Elected = Pick<Extract<ElectionStep, { action: 'elect' }>, 'strategy' | 'holder'>;

/**
 * Makes a lease that is there the elected's. A holder that lives is not replaced: it is told by preferredHolder who is better, and gives the lease up.
 * Answers whether anything changed.
 */
export function applyElection(lease: Lease, { strategy, holder }: Elected, now: Date): boolean {
  const { spec } = lease;
  const hasOtherStrategy = spec.strategy !== strategy;
  if (hasOtherStrategy) spec.strategy = strategy;
  if (holder === undefined || holder === spec.holderIdentity) return hasOtherStrategy;
  if (!spec.holderIdentity || isLeaseExpired(lease, now)) {
    delete spec.preferredHolder;
    delete spec.acquireTime;
    Object.assign(spec, { holderIdentity: holder, renewTime: microTimeOf(now), leaseDurationSeconds: ELECTED_LEASE_SECONDS });
    return true;
  }
  const isNews = spec.preferredHolder !== holder;
  spec.preferredHolder = holder;
  return isNews || hasOtherStrategy;
}

const isLeaseExpired = ({ spec: { renewTime, leaseDurationSeconds } }: Lease, now: Date): boolean =>
  renewTime === undefined || leaseDurationSeconds === undefined || microsOf(renewTime) + leaseDurationSeconds * 1e6 < now.getTime() * 1000;

export const isCandidateExpired = ({ spec: { renewTime } }: LeaseCandidate, now: Date): boolean =>
  renewTime === undefined || microsOf(renewTime) + CANDIDATE_MS * 1000 < now.getTime() * 1000;

const nameOf = (candidate: LeaseCandidate | undefined): string => {
  if (candidate === undefined) throw new Error('no candidate has an emulation version and a binary version');
  return candidate.metadata.name!;
};

const emulationOf = ({ spec }: LeaseCandidate): SemanticVersion => parseSemanticVersion(spec.emulationVersion ?? '') ?? ZERO_VERSION;
const binaryOf = ({ spec }: LeaseCandidate): SemanticVersion => parseSemanticVersion(spec.binaryVersion) ?? ZERO_VERSION;

/** A MicroTime in microseconds since 1970: a ping and its answer may be within one millisecond. Absent: long ago. */
function microsOf(time: string | undefined): number {
  if (time === undefined) return -Infinity;
  const { seconds, nanoseconds } = parseMicroTime(time);
  return seconds * 1e6 + nanoseconds / 1000;
}
