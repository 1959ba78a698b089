import { describe, expect, test } from 'vitest';
import { type Change, addressOf, authorOf, changeAt, changesRequest, momentMs, summaryOf } from './change.ts';

const change = (version: string, time: string, extra: Partial<Change> = {}): Change => ({
  metadata: { name: `c-${version}` },
  object: { group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u' },
  time,
  type: 'modified',
  verb: 'patch',
  objectResourceVersion: version,
  ...extra,
});
const CHANGES = [change('5', '2026-01-01T00:00:00Z'), change('9', '2026-01-01T00:00:10Z'), change('12', '2026-01-01T00:00:20Z')];

describe('a moment', () => {
  test.each([
    ['9', '9'],
    ['11', '9'],
    ['2026-01-01T00:00:19Z', '9'],
    ['2026-01-01T00:00:20Z', '12'],
    ['4', undefined],
  ])('%s is after change %s', (at, version) => {
    expect(changeAt(CHANGES, at)?.objectResourceVersion).toBe(version);
  });
  test('is a time, whether it is told as one or by a version', () => {
    expect(momentMs(CHANGES, '9')).toBe(Date.UTC(2026, 0, 1, 0, 0, 10));
    expect(momentMs(CHANGES, '2026-01-01T00:00:01Z')).toBe(Date.UTC(2026, 0, 1, 0, 0, 1));
    expect(momentMs(CHANGES, '1')).toBeUndefined();
  });
});

test('changes are asked for by what they changed', () => {
  expect(changesRequest({ group: 'apps', plural: 'deployments', namespace: 'shop', name: 'web' })).toEqual({
    path: '/apis/history.binnacle.dev/v1alpha1/namespaces/shop/changes',
    fieldSelector: 'object.group=apps,object.resource=deployments,object.name=web',
  });
  expect(changesRequest({ group: '', plural: 'nodes' }).path).toBe('/apis/history.binnacle.dev/v1alpha1/changes');
});

test('a change is told in few words', () => {
  expect(summaryOf(change('1', '', { fields: [{ path: 'spec.replicas', from: 1, to: 3 }] }))).toBe('spec.replicas: 1 → 3');
  expect(summaryOf(change('1', '', { fields: ['a', 'b', 'c', 'd'].map((path) => ({ path, to: 'x' })) }))).toBe('a: nothing → x, b: nothing → x, and 2 more');
  expect(summaryOf(change('1', '', { type: 'created' }))).toBe('created');
  expect(authorOf(change('1', '', { user: { username: 'jane' }, impersonator: { username: 'admin' } }))).toBe('admin as jane');
  expect(addressOf(CHANGES[1]!)).toBe('/apis/apps/v1/namespaces/shop/deployments/web?at=9');
});
