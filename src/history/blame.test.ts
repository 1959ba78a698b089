import { expect, test } from 'vitest';
import type { JsonObject } from '../encoding/json-types.ts';
import { Blame, ownerOf } from './blame.ts';

const object = (containers: JsonObject[], more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  metadata: { name: 'web', resourceVersion: '1', labels: { 'app.kubernetes.io/name': 'web' } },
  spec: { containers, ...more },
});

const lines = (blame: Blame<string>): string[] =>
  blame.fields().map(({ path, value, before, by }) => `${by} ${path}=${JSON.stringify(value)}${before === undefined ? '' : ` was ${JSON.stringify(before)}`}`);

test('items of lists are told apart by what they are merged by, so that one that moves is not blamed on who moved it', () => {
  const blame = new Blame<string>();
  blame.add('jane', object([{ name: 'web', image: 'web:1' }]));
  blame.add(
    'bob',
    object(
      [
        { name: 'proxy', image: 'p' },
        { name: 'web', image: 'web:1' },
      ],
      { replicas: 1, args: ['a', 'b'] },
    ),
  );
  blame.add(
    'eve',
    object(
      [
        { name: 'proxy', image: 'p' },
        { name: 'web', image: 'web:2' },
      ],
      { replicas: 1 },
    ),
  );
  expect(lines(blame)).toEqual([
    'jane metadata.labels["app.kubernetes.io/name"]="web"',
    'jane spec.containers[name=web].name="web"',
    'eve spec.containers[name=web].image="web:2" was "web:1"',
    'bob spec.containers[name=proxy].name="proxy"',
    'bob spec.containers[name=proxy].image="p"',
    'bob spec.replicas=1',
  ]);
});

test('lists without such a key go by their places', () => {
  const blame = new Blame<string>();
  blame.add('jane', { spec: { rules: [{ verbs: ['get'] }, { verbs: ['list'] }] } });
  blame.add('bob', { spec: { rules: [{ verbs: ['get'] }, { verbs: ['watch'] }] } });
  expect(lines(blame)).toEqual(['jane spec.rules[0].verbs=["get"]', 'bob spec.rules[1].verbs=["watch"] was ["list"]']);
});

test('managed fields tell who owns a field, by keys and by values', () => {
  const owned = {
    ...object([{ name: 'web', image: 'web:1' }], { replicas: 3 }),
    metadata: {
      managedFields: [
        {
          manager: 'kubectl-create',
          time: '2026-01-31T10:00:00Z',
          fieldsV1: { 'f:spec': { 'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:name': {}, 'f:image': {} } } } },
        },
        { manager: 'autoscaler', time: '2026-01-31T11:00:00Z', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      ],
    },
  };
  const owners = new Blame<string>();
  owners.add('-', owned, (leaf) => ownerOf(owned, leaf)?.manager);
  expect(lines(owners)).toEqual([
    'kubectl-create spec.containers[name=web].name="web"',
    'kubectl-create spec.containers[name=web].image="web:1"',
    'autoscaler spec.replicas=3',
  ]);
});
