import { expect, test } from 'vitest';
import { entryInList, entryOfLegacyList, groupsInList } from './discovery-entry.ts';

const list = (...versions: object[]): object => ({ kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'g' }, versions }, 7, { metadata: null }] });

test('of a list, one group-version, with nothing that the type does not have', () => {
  const things = {
    resource: 'things',
    scope: 'Namespaced',
    verbs: ['get', 7],
    unknown: 'x',
    shortNames: ['th'],
    categories: [],
    subresources: [{ subresource: 'status', verbs: ['get'], responseKind: { group: 'g', version: 'v1', kind: 'Thing', more: 1 } }, null],
  };
  expect(entryInList(list({ version: 'v1', resources: [things, 'x'], freshness: 'Odd' }), 'g', 'v1')).toEqual({
    version: 'v1',
    resources: [
      {
        resource: 'things',
        responseKind: { group: '', version: '', kind: '' },
        scope: 'Namespaced',
        singularResource: '',
        verbs: ['get'],
        shortNames: ['th'],
        subresources: [{ subresource: 'status', responseKind: { group: 'g', version: 'v1', kind: 'Thing' }, verbs: ['get'] }],
      },
    ],
  });
  expect(entryInList(list({ version: 'v1' }), 'g', 'v2')).toBeUndefined();
  expect(entryInList(list({ version: 'v1' }), 'g', 'v1')).toEqual({ version: 'v1' });
});

test.each([undefined, null, [], 'x', { kind: 'APIResourceList' }])('what is no list is refused: %j', (sent) => {
  expect(() => entryInList(sent, 'g', 'v1')).toThrow('no APIGroupDiscoveryList');
  expect(() => entryOfLegacyList(sent === undefined ? sent : { kind: 'X' }, 'v1')).toThrow('no APIResourceList');
});

test('of a legacy list, subresources go below their resource', () => {
  const resources = [
    { name: 'things/status', namespaced: true, kind: 'Thing', verbs: ['get'] },
    { name: 'things', singularName: 'thing', namespaced: true, kind: 'Thing', verbs: ['list'], shortNames: ['th'] },
    { name: 'orphans/scale', namespaced: false, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
  ];
  expect(entryOfLegacyList({ kind: 'APIResourceList', resources }, 'v1')).toEqual({
    version: 'v1',
    resources: [
      {
        resource: 'things',
        responseKind: { group: '', version: '', kind: 'Thing' },
        scope: 'Namespaced',
        singularResource: 'thing',
        verbs: ['list'],
        shortNames: ['th'],
        subresources: [{ subresource: 'status', responseKind: { group: '', version: '', kind: 'Thing' }, verbs: ['get'] }],
      },
      {
        resource: 'orphans',
        responseKind: { group: '', version: '', kind: '' },
        scope: 'Cluster',
        singularResource: '',
        verbs: [],
        subresources: [{ subresource: 'scale', responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: ['get'] }],
      },
    ],
  });
  const other = { name: 'things/x', namespaced: false, verbs: [] };
  expect(() => entryOfLegacyList({ kind: 'APIResourceList', resources: [resources[1], other] }, 'v1')).toThrow('scope do not match');
});

test('of a list, all groups, with nothing that the types do not have', () => {
  const things = { resource: 'things', scope: 'Cluster', verbs: ['get'], responseKind: { kind: 'Thing' }, unknown: 1 };
  expect(groupsInList(list({ version: 'v1', resources: [things, 3], freshness: 'Current', more: 1 }, { version: 7 }))).toEqual([
    {
      metadata: { name: 'g' },
      versions: [
        {
          version: 'v1',
          resources: [{ resource: 'things', responseKind: { group: '', version: '', kind: 'Thing' }, scope: 'Cluster', singularResource: '', verbs: ['get'] }],
          freshness: 'Current',
        },
        { version: '' },
      ],
    },
    { metadata: {}, versions: [] },
  ]);
  for (const other of [{ kind: 'APIGroupList' }, [], 'x', null]) expect(() => groupsInList(other)).toThrow('the answer is no APIGroupDiscoveryList');
});

test('one that lists more than any server has is not looked at', () => {
  const many = Array.from({ length: 5_001 }, (_, index) => ({ name: `r${index}`, resource: `r${index}` }));
  const tooMany = 'the answer lists more than 5000 groups or resources';
  expect(() => entryOfLegacyList({ kind: 'APIResourceList', resources: many }, 'v1')).toThrow(tooMany);
  expect(() => entryInList(list({ version: 'v1', resources: many }), 'g', 'v1')).toThrow(tooMany);
  const versions = many.slice(0, 100).map(() => ({ version: 'v1', resources: many.slice(0, 50) }));
  expect(() => groupsInList(list(...versions))).toThrow(tooMany);
  const subresources = many.slice(0, 5_000).map(({ name }) => ({ name: `things/${name}` }));
  const [things] = entryOfLegacyList({ kind: 'APIResourceList', resources: subresources }, 'v1')['resources'] as { subresources: object[] }[];
  expect(things!.subresources).toHaveLength(5_000);
});
