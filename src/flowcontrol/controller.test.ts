import { describe, expect, test } from 'vitest';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../apis/flowcontrol/mandatory.ts';
import { FakeClient } from '../client/fake-client.ts';
import flowSchemas from '../kube/bootstrap/data/flow-schemas.json' with { type: 'json' };
import priorityLevels from '../kube/bootstrap/data/priority-levels.json' with { type: 'json' };
import { MetricRegistry } from '../metrics/registry.ts';
import { parseRequestInfo } from '../server/request-info.ts';
import { firstQueryValue, splitTarget } from '../server/request-target.ts';
import type { ApiObject } from '../api/api-object.ts';
import type { User } from '../api/user.ts';
import { FlowController } from './controller.ts';
import { FakeFlowClock } from './fake-clock.ts';
import { API_VERSION, GROUP } from './objects.ts';
import type { Ticket } from './ticket.ts';

const ALICE: User = { name: 'alice', groups: ['system:authenticated'] };
const BOB: User = { name: 'bob', groups: ['system:authenticated'] };
const ADMIN: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

async function newController({ serverSeats = 600, hasDefaults = true } = {}) {
  const clock = new FakeFlowClock();
  const client = new FakeClient();
  const registry = new MetricRegistry();
  const stats = new Map<string, { count: number; averageBytes: number }>();
  const controller = new FlowController({
    serverSeats,
    requestTimeoutMs: 60_000,
    mandatoryLevels: MANDATORY_PRIORITY_LEVELS,
    mandatorySchemas: MANDATORY_FLOW_SCHEMAS,
    statsOf: (resource) => stats.get(resource),
    registry,
    clock,
  });
  const create = (plural: string, kind: string, object: object): Promise<ApiObject> =>
    client.resource(GROUP, plural).create('', { kind, apiVersion: API_VERSION, ...object } as ApiObject);
  const addLevel = (name: string, spec: object): Promise<ApiObject> =>
    create('prioritylevelconfigurations', 'PriorityLevelConfiguration', { metadata: { name, uid: `level-${name}` }, spec });
  const addSchema = (name: string, spec: object): Promise<ApiObject> =>
    create('flowschemas', 'FlowSchema', { metadata: { name, uid: `schema-${name}` }, spec });
  if (hasDefaults) {
    for (const { metadata, spec } of priorityLevels) await addLevel(metadata.name, spec);
    for (const { metadata, spec } of flowSchemas) await addSchema(metadata.name, spec);
  }
  await controller.follow(client);
  const send = (user: User, target: string, method = 'GET'): Ticket => {
    const receivedAtMs = clock.nowMs();
    return controller.arrive({
      user,
      info: parseRequestInfo(method, target),
      receivedAtMs,
      deadlineMs: receivedAtMs + 60_000,
      queryValue: (name) => firstQueryValue(splitTarget(target).query, name),
    });
  };
  const level = (name: string) => controller.levels.find((candidate) => candidate.name === name)!;
  return { clock, client, controller, registry, stats, send, level, addLevel, addSchema };
}

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const ofUser = (name: string): object => ({ subjects: [{ kind: 'User', user: { name } }], ...EVERYTHING });

describe('with the default objects', () => {
  test.each([
    [ADMIN, 'GET', '/api/v1/pods', 'exempt'],
    [ALICE, 'GET', '/healthz', 'probes'],
    [ALICE, 'GET', '/healthz/etcd', 'probes'],
    [ALICE, 'GET', '/version', 'global-default'],
    [ALICE, 'GET', '/api/v1/namespaces/a/pods/b', 'global-default'],
    [{ name: 'x', groups: [] }, 'GET', '/api', 'catch-all'],
    [{ name: 'system:node:n', groups: ['system:nodes'] }, 'PATCH', '/api/v1/nodes/n/status', 'system-node-high'],
    [{ name: 'system:node:n', groups: ['system:nodes'] }, 'GET', '/api/v1/namespaces/a/pods/b', 'system-nodes'],
    [{ name: 'system:kube-scheduler', groups: [] }, 'GET', '/api/v1/pods', 'kube-scheduler'],
    [{ name: 'system:serviceaccount:kube-system:x', groups: ['system:serviceaccounts'] }, 'GET', '/api/v1/pods', 'kube-system-service-accounts'],
    [{ name: 'system:serviceaccount:a:x', groups: ['system:serviceaccounts'] }, 'GET', '/api/v1/pods', 'service-accounts'],
    [
      { name: 'system:serviceaccount:kube-system:x', groups: ['system:serviceaccounts'] },
      'PUT',
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/l',
      'system-leader-election',
    ],
  ])('%o: %s %s is of %s', async (user, method, target, schema) => {
    const { send } = await newController();
    const ticket = send(user, target, method);
    expect(ticket.flow.schema).toEqual({ name: schema, uid: `schema-${schema}` });
    expect(ticket).toMatchObject({ state: 'executing', flowSchemaUid: `schema-${schema}`, priorityLevelUid: `level-${ticket.flow.level.name}` });
  });

  test('shares become seats', async () => {
    const { controller } = await newController();
    const seats = controller.levels.map(({ name, nominalSeats, leastSeats, mostSeats }) => [name, nominalSeats, leastSeats, mostSeats]);
    // Σ shares = 245: ceil(600 · shares / 245), less round(lendable %), plus all that there is.
    expect(seats).toEqual([
      ['catch-all', 13, 13, 613],
      ['exempt', 0, 0, 600],
      ['global-default', 49, 24, 649],
      ['leader-election', 25, 25, 625],
      ['node-high', 98, 73, 698],
      ['system', 74, 50, 674],
      ['workload-high', 98, 49, 698],
      ['workload-low', 245, 24, 845],
    ]);
  });

  test('all seats are given out, and demand draws them', async () => {
    const { clock, controller, send, level } = await newController();
    const total = (): number => controller.levels.reduce((sum, { currentSeats }) => sum + currentSeats, 0);
    expect(total()).toBeGreaterThanOrEqual(598);
    const before = level('global-default').currentSeats;
    for (let i = 0; i < 300; i++) send(ALICE, '/api/v1/namespaces/a/pods/b');
    clock.pass(10_000);
    expect(level('global-default').currentSeats).toBeGreaterThan(2 * before);
    expect(total()).toBeLessThanOrEqual(604);
    for (const { currentSeats, leastSeats, mostSeats } of controller.levels) expect(currentSeats >= leastSeats && currentSeats <= mostSeats).toBe(true);
  });

  test('exempt requests are never held up', async () => {
    const { send } = await newController({ serverSeats: 1 });
    for (let i = 0; i < 100; i++) expect(send(ADMIN, '/api/v1/pods').state).toBe('executing');
  });

  test('the metrics have upstream’s names', async () => {
    const { registry, send } = await newController();
    send(ALICE, '/api/v1/namespaces/a/pods/b').finish(false);
    const text = registry.print();
    expect(text).toContain('apiserver_flowcontrol_dispatched_requests_total{flow_schema="global-default",priority_level="global-default"} 1\n');
    expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 245\n');
    expect(text).toContain(
      'apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true",flow_schema="global-default",priority_level="global-default"} 1\n',
    );
  });
});

describe('without objects', () => {
  test('the mandatory ones are there', async () => {
    const { controller, send } = await newController({ hasDefaults: false, serverSeats: 10 });
    expect(controller.levels.map(({ name }) => name)).toEqual(['catch-all', 'exempt']);
    expect(send(ADMIN, '/api').flow.schema.name).toBe('exempt');
    expect(send(ALICE, '/api').flow.schema.name).toBe('catch-all');
  });

  test('catch-all rejects what finds no seat, and asks for more and more patience', async () => {
    const { clock, send } = await newController({ hasDefaults: false, serverSeats: 2 });
    const [first] = [send(ALICE, '/api'), send(BOB, '/api')];
    const third = send(ALICE, '/api');
    expect(third).toMatchObject({ state: 'rejected', retryAfterSeconds: 1 });
    for (let second = 0; second < 4; second++) {
      clock.pass(1000);
      for (let i = 0; i < 10; i++) send(ALICE, '/api');
    }
    expect(send(ALICE, '/api').retryAfterSeconds).toBeGreaterThan(1);
    first!.finish(false);
    expect(send(ALICE, '/api').state).toBe('executing');
  });
});

describe('a change of objects', () => {
  const QUEUED = {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: 10,
      limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 2, queueLengthLimit: 5 } },
      borrowingLimitPercent: 0,
    },
  };

  test('counts from the next request on; a level that is gone serves what it took in', async () => {
    const { client, clock, controller, send, addLevel, addSchema } = await newController();
    await addLevel('mine', QUEUED);
    await addSchema('mine', { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 50, rules: [ofUser('alice')] });
    const ticket = send(ALICE, '/api/v1/pods');
    expect(ticket.flow.level.name).toBe('mine');
    await client.resource(GROUP, 'prioritylevelconfigurations').delete('', 'mine');
    expect(send(ALICE, '/api/v1/pods').flow.level.name).toBe('global-default');
    expect(controller.levels.find(({ name }) => name === 'mine')!.isQuiescing).toBe(true);
    ticket.finish(false);
    clock.pass(10_000);
    expect(controller.levels.map(({ name }) => name)).not.toContain('mine');
  });

  test('a schema whose level does not exist is passed over', async () => {
    const { send, addSchema } = await newController();
    await addSchema('dangling', { priorityLevelConfiguration: { name: 'none' }, matchingPrecedence: 50, rules: [ofUser('alice')] });
    expect(send(ALICE, '/api/v1/pods').flow.schema.name).toBe('global-default');
  });

  test('of two with the same precedence, the name decides', async () => {
    const { send, addSchema } = await newController();
    for (const name of ['zz', 'aa'])
      await addSchema(name, { priorityLevelConfiguration: { name: 'system' }, matchingPrecedence: 50, rules: [ofUser('alice')] });
    expect(send(ALICE, '/api/v1/pods').flow.schema.name).toBe('aa');
  });
});

describe('width', () => {
  test('of a list grows with what it loads', async () => {
    const { send, stats } = await newController();
    stats.set('pods', { count: 5000, averageBytes: 2000 });
    stats.set('deployments.apps', { count: 20, averageBytes: 1000 });
    expect(send(ALICE, '/apis/apps/v1/deployments').seats).toBe(1);
    expect(send(ALICE, '/api/v1/pods?limit=100').seats).toBe(2);
    // From the cache at most a megabyte is held, so 10 seats; one request gets at most 15 % of 49 seats, and a hand's part of them.
    expect(send(ALICE, '/api/v1/pods').seats).toBe(8);
    expect(send(ALICE, '/api/v1/pods?fieldSelector=metadata.name%3Dx').seats).toBe(1);
    expect(send(ALICE, '/api/v1/pods?watch=true&resourceVersion=12').seats).toBe(1);
    expect(send(ALICE, '/apis/metrics.k8s.io/v1/pods').seats).toBe(1);
  });

  test('of a write grows with those who watch, and lingers', async () => {
    const { clock, send, controller, level } = await newController();
    const watch = {
      user: ALICE,
      info: parseRequestInfo('GET', '/api/v1/namespaces/a/configmaps?watch=true'),
      receivedAtMs: 0,
      deadlineMs: undefined,
      queryValue: () => undefined,
    };
    const forgets = Array.from({ length: 45 }, () => controller.trackWatch(watch));
    const write = send(ALICE, '/api/v1/namespaces/a/configmaps/x', 'PUT');
    expect(write.work).toEqual({ initialSeats: 1, finalSeats: 5, additionalLatencyMs: 5 });
    expect(send(ALICE, '/api/v1/namespaces/b/configmaps/x', 'PUT').seats).toBe(1);
    write.finish(false);
    expect(level('global-default').queues.seatsInUse).toBe(6);
    clock.pass(5);
    expect(level('global-default').queues.seatsInUse).toBe(1);
    for (const forget of forgets) forget();
    expect(send(ALICE, '/api/v1/namespaces/a/configmaps/x', 'PUT').seats).toBe(1);
  });
});
