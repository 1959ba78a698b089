import { describe, expect, test } from 'vitest';
import type { Lease, LeaseSpec } from '../../apis/facts/types/coordination-v1.ts';
import type { LeaseCandidate, LeaseCandidateSpec } from '../../apis/facts/types/coordination-v1beta1.ts';
import { microTimeOf } from '../../util/time.ts';
import { applyElection, electedLease, electionStep, isCandidateExpired, pickOldestEmulationVersion, pickStrategy } from './election.ts';

const NOW = new Date('2026-03-04T05:06:07.089Z');
const OLDEST = 'OldestEmulationVersion';
const before = (seconds: number): string => microTimeOf(new Date(NOW.getTime() - seconds * 1000));

interface CandidateFields extends Partial<LeaseCandidateSpec> {
  created?: string;
}

/** One that has renewed a second ago, where nothing else is said. */
const candidate = (name: string, emulationVersion: string, { created = '2026-01-01T00:00:00Z', ...spec }: CandidateFields = {}): LeaseCandidate => ({
  kind: 'LeaseCandidate',
  apiVersion: 'coordination.k8s.io/v1beta1',
  metadata: { name, namespace: 'kube-system', creationTimestamp: created },
  spec: { leaseName: 'scheduler', binaryVersion: emulationVersion, emulationVersion, strategy: OLDEST, renewTime: before(1), ...spec },
});

const lease = (spec: LeaseSpec = {}): Lease => ({
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'scheduler', namespace: 'kube-system' },
  spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: before(2), strategy: OLDEST, ...spec },
});

describe('the oldest emulation version', () => {
  test.each<[string, LeaseCandidate[], string | undefined]>([
    ['the older one', [candidate('a', '1.36.0'), candidate('b', '1.35.0')], 'b'],
    ['by number, not by text', [candidate('a', '1.10.0'), candidate('b', '1.9.0')], 'b'],
    ['of the same, the older binary', [candidate('a', '1.35.0', { binaryVersion: '1.36.0' }), candidate('b', '1.35.0', { binaryVersion: '1.35.1' })], 'b'],
    [
      'of the same, the longest there',
      [candidate('a', '1.35.0', { created: '2026-01-01T00:00:02Z' }), candidate('b', '1.35.0', { created: '2026-01-01T00:00:01Z' })],
      'b',
    ],
    ['of the very same, the first', [candidate('a', '1.35.0'), candidate('b', '1.35.0')], 'a'],
    ['not one without a version', [candidate('a', ''), candidate('b', '1.36.0')], 'b'],
    ['nobody', [candidate('a', 'x'), candidate('b', '1.36.0', { binaryVersion: '' })], undefined],
  ])('%s', (_title, candidates, name) => {
    expect(pickOldestEmulationVersion(candidates)?.metadata.name).toBe(name);
  });
});

describe('the strategy', () => {
  test('is that of the newest binary', () => {
    const old = candidate('a', '1.35.0', { strategy: OLDEST });
    const newer = candidate('b', '1.36.0', { strategy: 'example.com/other' });
    expect([pickStrategy([old, newer]), pickStrategy([newer, old])]).toEqual(['example.com/other', 'example.com/other']);
  });

  test('must be one among the newest', () => {
    const candidates = [candidate('a', '1.36.0'), candidate('b', '1.36.0', { strategy: 'example.com/other' })];
    expect(() => pickStrategy(candidates)).toThrow(/"a" and "b" have the same binary version, and strategies OldestEmulationVersion and example.com\/other/);
  });
});

describe('an election', () => {
  const elect = { action: 'elect', strategy: OLDEST };

  test.each<[string, Lease | undefined, LeaseCandidate[], object]>([
    ['without a lease', undefined, [candidate('a', '1.36.0')], { ...elect, holder: 'a' }],
    ['with an expired lease', lease({ renewTime: before(16) }), [candidate('b', '1.36.0')], { ...elect, holder: 'b' }],
    ['with a lease that was released', lease({ holderIdentity: '' }), [candidate('b', '1.36.0')], { ...elect, holder: 'b' }],
    ['when a better one comes', lease(), [candidate('a', '1.36.0'), candidate('b', '1.35.0')], { ...elect, holder: 'b' }],
    ['not while the best one holds it', lease(), [candidate('a', '1.35.0'), candidate('b', '1.36.0')], { action: 'wait' }],
    ['not of another strategy while somebody holds it', lease(), [candidate('b', '1.36.0', { strategy: 'example.com/x' })], { action: 'wait' }],
    [
      'of another strategy names nobody',
      undefined,
      [candidate('b', '1.36.0', { strategy: 'example.com/x' })],
      { action: 'elect', strategy: 'example.com/x', holder: undefined },
    ],
    [
      'waits for those that were asked',
      undefined,
      [candidate('a', '1.36.0', { pingTime: before(1), renewTime: before(2) }), candidate('b', '1.36.0')],
      { action: 'wait' },
    ],
    [
      'goes on without those that do not answer',
      undefined,
      [candidate('a', '1.35.0', { pingTime: before(6), renewTime: before(7) }), candidate('b', '1.36.0')],
      { ...elect, holder: 'b' },
    ],
    ['goes on when they have answered', undefined, [candidate('a', '1.35.0', { pingTime: before(3), renewTime: before(2) })], { ...elect, holder: 'a' }],
  ])('%s', (_title, held, candidates, step) => {
    expect(electionStep(held, candidates, NOW)).toEqual(step);
  });

  test('asks those that have said nothing for a while, once', () => {
    const silent = candidate('a', '1.36.0', { renewTime: before(60) });
    expect(electionStep(undefined, [silent, candidate('b', '1.36.0')], NOW)).toEqual({ action: 'ping', candidates: [silent] });
    const askedLongAgo = candidate('a', '1.36.0', { pingTime: before(90), renewTime: before(60) });
    expect(electionStep(undefined, [askedLongAgo], NOW)).toEqual({ action: 'ping', candidates: [askedLongAgo] });
  });

  test('asks all before any of them would expire, though the best one leads', () => {
    const old = candidate('a', '1.35.0', { renewTime: before(15 * 60 + 1) });
    expect(electionStep(lease(), [old], NOW)).toEqual({ action: 'ping', candidates: [old] });
  });

  test('of candidates that are all gone is given up', () => {
    const gone = candidate('a', '1.36.0', { pingTime: before(10), renewTime: before(60) });
    expect(electionStep(undefined, [gone], NOW)).toEqual({ action: 'give up' });
  });

  test('tells a ping from its answer within one millisecond', () => {
    const pingTime = '2026-03-04T05:06:06.000001Z';
    const asked = candidate('a', '1.36.0', { pingTime, renewTime: '2026-03-04T05:06:06.000000Z' });
    const answered = candidate('a', '1.36.0', { pingTime, renewTime: '2026-03-04T05:06:06.000002Z' });
    expect(electionStep(undefined, [asked], NOW)).toEqual({ action: 'wait' });
    expect(electionStep(undefined, [answered], NOW)).toEqual({ ...elect, holder: 'a' });
  });
});

describe('the elected lease', () => {
  const elected = { strategy: OLDEST, holder: 'b' };

  test('is made for five seconds, with no time of acquisition', () => {
    const { spec } = electedLease('kube-system', 'scheduler', elected, NOW);
    expect(spec).toEqual({ strategy: OLDEST, holderIdentity: 'b', leaseDurationSeconds: 5, renewTime: before(0) });
    expect(electedLease('kube-system', 'scheduler', { strategy: 'example.com/x', holder: undefined }, NOW).spec.holderIdentity).toBeUndefined();
  });

  test('is left to a holder that lives, who is told of the better one', () => {
    const held = lease();
    expect([applyElection(held, elected, NOW), applyElection(held, elected, NOW)]).toEqual([true, false]);
    expect(held).toEqual(lease({ preferredHolder: 'b' }));
  });

  test.each([
    ['released', { holderIdentity: '' }],
    ['expired', { renewTime: before(16) }],
    ['never held', { renewTime: before(16), holderIdentity: undefined }],
  ] as [string, LeaseSpec][])('is taken over when it was %s', (_title, spec) => {
    const held = lease({ ...spec, preferredHolder: 'b', acquireTime: before(60), leaseTransitions: 3 });
    expect(applyElection(held, elected, NOW)).toBe(true);
    expect(held.spec).toEqual({ strategy: OLDEST, holderIdentity: 'b', leaseDurationSeconds: 5, renewTime: before(0), leaseTransitions: 3 });
  });

  test('gets the strategy, and no holder where that is not ours to pick', () => {
    const held = lease();
    delete held.spec.strategy;
    expect(applyElection(held, { strategy: 'example.com/x', holder: undefined }, NOW)).toBe(true);
    expect(held).toEqual(lease({ strategy: 'example.com/x' }));
  });

  test('stays as it is when its holder was elected again', () => {
    expect(applyElection(lease(), { strategy: OLDEST, holder: 'a' }, NOW)).toBe(false);
  });
});

test('a candidate is one for half an hour after it has renewed', () => {
  expect([1799, 1801].map((seconds) => isCandidateExpired(candidate('a', '1.36.0', { renewTime: before(seconds) }), NOW))).toEqual([false, true]);
});
