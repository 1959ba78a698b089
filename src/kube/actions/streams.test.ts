import { expect, test } from 'vitest';
import { TestServer } from './test-server.ts';

const server = await TestServer.start();

const codeAndMessage = async (method: string, path: string): Promise<[number, string]> => {
  const answer = await server.send(method, path);
  return [answer.status, answer.text === '' ? '' : answer.json<{ message: string }>().message];
};

test('a log is checked, and empty where the pod runs nowhere', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'one');
  await server.pod(namespace, 'two', {
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
    initContainers: [{ name: 'first', image: 'i' }],
  });
  const log = (pod: string, query = '') => codeAndMessage('GET', `${namespace}/pods/${pod}/log${query}`);
  expect(await log('one')).toEqual([204, '']);
  expect(await log('none')).toEqual([404, 'pods "none" not found']);
  expect(await log('two')).toEqual([400, 'a container name must be specified for pod two, choose one of: [first a b]']);
  expect(await log('two', '?container=b')).toEqual([204, '']);
  expect(await log('two', '?container=c')).toEqual([400, 'container c is not valid for pod two']);
  expect(await log('one', '?tailLines=abc')).toEqual([400, 'strconv.ParseInt: parsing "abc": invalid syntax']);
  expect(await log('one', '?tailLines=-1&limitBytes=0&sinceSeconds=0')).toEqual([
    422,
    'PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
  ]);
  expect((await codeAndMessage('POST', `${namespace}/pods/one/log`))[0]).toBe(405);
  expect((await codeAndMessage('GET', `${namespace}/pods/one/log/more`))[0]).toBe(404);
});

test('exec, attach and portforward need a pod that has a node', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'waiting');
  await server.pod(namespace, 'placed', { nodeName: 'n1' });
  for (const stream of ['exec?command=sh', 'attach', 'portforward?ports=80']) {
    expect(await codeAndMessage('POST', `${namespace}/pods/waiting/${stream}`)).toEqual([400, 'pod waiting does not have a host assigned']);
    expect(await codeAndMessage('GET', `${namespace}/pods/placed/${stream}`)).toEqual([404, 'pods "n1" not found']);
  }
  await server.create('/api/v1/nodes', { metadata: { name: 'n1' } });
  expect(await codeAndMessage('POST', `${namespace}/pods/placed/exec?command=sh`)).toEqual([500, 'no preferred addresses found; known addresses: []']);
  // Nobody listens on the first port.
  await server.status('/api/v1/nodes/n1', { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: 1 } } });
  expect(await codeAndMessage('POST', `${namespace}/pods/placed/exec?command=sh&container=x`)).toEqual([400, 'container x is not valid for pod placed']);
  expect(await codeAndMessage('POST', `${namespace}/pods/placed/exec?command=sh`)).toEqual([400, 'Upgrade request required']);
  expect(await codeAndMessage('GET', `${namespace}/pods/placed/log`)).toEqual([
    500,
    `Get "https://127.0.0.1:1/containerLogs/${namespace.split('/').at(-1)}/placed/c": dial tcp 127.0.0.1:1: connect: connection refused`,
  ]);
  expect(await codeAndMessage('POST', `${namespace}/pods/placed/portforward?ports=http`)).toEqual([
    400,
    'cannot convert to []int32: strconv.ParseUint: parsing "http": invalid syntax',
  ]);
  expect(await codeAndMessage('POST', `${namespace}/pods/placed/exec?dryRun=All`)).toEqual([400, 'dryRun is not supported']);
  expect(await codeAndMessage('GET', '/api/v1/nodes/n1/proxy/metrics')).toEqual([400, 'address not allowed']);
});

test('who may only read a pod may not open streams into it', async () => {
  const namespace = await server.namespace();
  const name = namespace.split('/').at(-1)!;
  await server.pod(namespace, 'p');
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}`;
  await server.create(`${roles}/roles`, { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }] });
  await server.create(`${roles}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: name }],
  });
  const { token } = (await server.send('POST', `${namespace}/serviceaccounts/default/token`, { spec: {} })).json<{ status: { token: string } }>().status;
  const answer = await server.sendAs(token, 'GET', `${namespace}/pods/p/exec?command=sh`);
  expect(answer.json()).toMatchObject({ code: 403, reason: 'Forbidden', message: expect.stringMatching(/^pods "p" is forbidden: /) });
});

test('proxies go to pods only', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'p');
  await server.create(`${namespace}/services`, { metadata: { name: 's' }, spec: { selector: { app: 'x' }, ports: [{ name: 'web', port: 80 }] } });
  expect(await codeAndMessage('GET', `${namespace}/pods/p/proxy`)).toEqual([400, 'address not allowed']);
  expect(await codeAndMessage('GET', `${namespace}/pods/a:b:c:d/proxy/x/y`)).toEqual([400, 'invalid pod request "a:b:c:d"']);
  expect(await codeAndMessage('GET', `${namespace}/services/s:81/proxy/`)).toEqual([503, 'no service port 81 found for service "s"']);
  expect(await codeAndMessage('GET', `${namespace}/services/s:80/proxy/`)).toEqual([404, 'services "s" not found']);
  await server.create(`${namespace}/endpoints`, {
    metadata: { name: 's' },
    subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ name: 'web', port: 8080 }] }],
  });
  expect(await codeAndMessage('GET', `${namespace}/services/s:web/proxy/`)).toEqual([503, 'no endpoints available for service "s:web"']);
});

test('discovery lists them all', async () => {
  const { resources } = await server.get<{ resources: { name: string }[] }>('/api/v1');
  const names = resources.map(({ name }) => name);
  for (const name of [
    'bindings',
    'pods/attach',
    'pods/binding',
    'pods/eviction',
    'pods/exec',
    'pods/log',
    'pods/portforward',
    'pods/proxy',
    'services/proxy',
    'nodes/proxy',
    'serviceaccounts/token',
  ])
    expect(names).toContain(name);
});

test('a port to proxy to is a number that ports have', async () => {
  const namespace = await server.namespace();
  await server.pod(namespace, 'up');
  await server.status(`${namespace}/pods/up`, { podIP: '192.0.2.1', podIPs: [{ ip: '192.0.2.1' }] });
  const proxied = (port: string): Promise<[number, string]> => codeAndMessage('GET', `${namespace}/pods/up:${port}/proxy/`);
  expect(await proxied('65536')).toEqual([503, 'error trying to reach service: dial tcp: address 65536: invalid port']);
  expect(await proxied('999999')).toEqual([503, 'error trying to reach service: dial tcp: address 999999: invalid port']);
  expect(await proxied('web')).toEqual([503, 'error trying to reach service: dial tcp: lookup tcp/web: unknown port']);
});
