import { beforeAll, describe, expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CERTIFICATE_REQUEST } from './kinds/examples.ts';
import { ApiClient } from './support/api-client.ts';
import { Clients } from './support/kubectl.ts';
import { type ServerProcess, startServer } from './support/server.ts';

/* kubectl v1.36 itself, as people use it. One server; every test has a namespace of its own. */

let server: ServerProcess;
let admin: Clients;
let count = 0;

beforeAll(async () => {
  server = await startServer();
  admin = new Clients(server);
});

/** A fresh namespace, as a flag. */
async function inNamespace(): Promise<string> {
  const name = `test-${++count}`;
  await admin.kubectl(`create namespace ${name}`);
  return `-n ${name}`;
}

const configMap = (data: Record<string, string>): string => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data });

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'nginx:1.29', ports: [{containerPort: 80}]}
`;

const SERVICE = `
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

describe('apply', () => {
  test('creates, leaves alone, configures', async () => {
    const ns = await inNamespace();
    expect(await admin.kubectl(`apply ${ns} -f -`, configMap({ a: '1', b: '2' }))).toBe('configmap/settings created\n');
    expect(await admin.kubectl(`apply ${ns} -f -`, configMap({ a: '1', b: '2' }))).toBe('configmap/settings unchanged\n');
    expect(await admin.kubectl(`apply ${ns} -f -`, configMap({ a: '3' }))).toBe('configmap/settings configured\n');
    expect(await admin.kubectl(`get configmap settings ${ns} -o jsonpath={.data}`)).toBe('{"a":"3"}');
  });

  test('of many documents, and of the same again', async () => {
    const ns = await inNamespace();
    const documents = [DEPLOYMENT, SERVICE, configMap({ a: '1' })].join('\n---\n');
    expect(await admin.kubectl(`apply ${ns} -f -`, documents)).toBe('deployment.apps/web created\nservice/web created\nconfigmap/settings created\n');
    expect(await admin.kubectl(`apply ${ns} -f -`, documents)).toBe('deployment.apps/web unchanged\nservice/web unchanged\nconfigmap/settings unchanged\n');
    const changed = documents.replace('nginx:1.29', 'nginx:1.30');
    expect(await admin.kubectl(`apply ${ns} -f -`, changed)).toBe('deployment.apps/web configured\nservice/web unchanged\nconfigmap/settings unchanged\n');
    expect(await admin.kubectl(`get deployment web ${ns} -o jsonpath={.spec.template.spec.containers[0].image}`)).toBe('nginx:1.30');
    expect(await admin.kubectl(`delete ${ns} -f -`, documents)).toContain('deployment.apps "web" deleted');
  });

  test('--dry-run=server answers as if, and keeps nothing', async () => {
    const ns = await inNamespace();
    expect(await admin.kubectl(`apply ${ns} --dry-run=server -f -`, configMap({ a: '1' }))).toBe('configmap/settings created (server dry run)\n');
    expect((await admin.tryKubectl(`get configmap settings ${ns}`)).stderr).toBe('Error from server (NotFound): configmaps "settings" not found\n');
  });

  test('diff shows what would change, and changes nothing', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`apply ${ns} -f -`, configMap({ a: '1' }));
    const same = await admin.tryKubectl(`diff ${ns} --server-side=false -f -`, configMap({ a: '1' }));
    expect(same).toEqual({ exit: 0, stdout: '', stderr: '' });
    const other = await admin.tryKubectl(`diff ${ns} --server-side=false -f -`, configMap({ a: '2' }));
    expect(other.exit).toBe(1);
    expect(other.stdout).toMatch(/^-  a: "1"$/m);
    expect(other.stdout).toMatch(/^\+  a: "2"$/m);
    expect(await admin.kubectl(`get configmap settings ${ns} -o jsonpath={.data.a}`)).toBe('1');
  });
});

describe('get', () => {
  let ns: string;
  beforeAll(async () => {
    ns = await inNamespace();
    await admin.kubectl(`apply ${ns} -f -`, `${DEPLOYMENT}\n---\n${SERVICE}`);
  });

  test('as a table, short and wide', async () => {
    const table = await admin.kubectl(`get deployments ${ns}`);
    expect(table).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2 +0 +0 +\d+s\n$/);
    const wide = await admin.kubectl(`get deployments ${ns} -o wide`);
    expect(wide).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 +0 +0 +\d+s +web +nginx:1\.29 +app=web\n$/);
  });

  test('as yaml, json, names, jsonpath, columns and template', async () => {
    expect(await admin.kubectl(`get deployment web ${ns} -o yaml`)).toMatch(/^apiVersion: apps\/v1\nkind: Deployment\nmetadata:\n/);
    const object = JSON.parse(await admin.kubectl(`get deployment web ${ns} -o json`)) as { kind: string; spec: { strategy: unknown } };
    expect(object).toMatchObject({ kind: 'Deployment', spec: { replicas: 2, strategy: { type: 'RollingUpdate' } } });
    expect(await admin.kubectl(`get deploy,svc ${ns} -o name`)).toBe('deployment.apps/web\nservice/web\n');
    expect(await admin.kubectl(`get deploy web ${ns} -o jsonpath='{.spec.template.spec.containers[*].name}'`)).toBe('web');
    expect(await admin.kubectl(`get deploy ${ns} -o custom-columns=N:.metadata.name,R:.spec.replicas`)).toBe('N     R\nweb   2\n');
    expect(await admin.kubectl(`get deploy ${ns} -o go-template='{{len .items}}'`)).toBe('1');
  });

  test('all, by label, by field, of every namespace', async () => {
    const all = await admin.kubectl(`get all ${ns}`);
    expect(all).toContain('service/web');
    expect(all).toContain('deployment.apps/web');
    expect(await admin.kubectl(`get deploy -l app=web -A -o name`)).toBe('deployment.apps/web\n');
    expect(await admin.kubectl(`get deploy -l app!=web ${ns} -o name`)).toBe('');
    expect(await admin.kubectl(`get namespaces --field-selector metadata.name=default -o name`)).toBe('namespace/default\n');
  });

  test('in pages of one', async () => {
    expect(await admin.kubectl(`get namespaces --chunk-size=1 -o name`)).toContain('namespace/kube-system\n');
  });

  test('what is not there', async () => {
    expect((await admin.tryKubectl(`get configmap nothing ${ns}`)).stderr).toBe('Error from server (NotFound): configmaps "nothing" not found\n');
    expect((await admin.tryKubectl(`get pods ${ns}`)).stderr).toMatch(/^No resources found in test-\d+ namespace\.\n$/);
    expect((await admin.tryKubectl(`get spaceships`)).stderr).toBe('error: the server doesn\'t have a resource type "spaceships"\n');
  });

  test('--raw', async () => {
    expect(JSON.parse(await admin.kubectl(`get --raw /api/v1/namespaces/default`))).toMatchObject({ kind: 'Namespace', metadata: { name: 'default' } });
    expect(await admin.kubectl('get --raw /readyz')).toBe('ok');
  });
});

test('get --watch sees every change', async () => {
  const ns = await inNamespace();
  await admin.kubectl(`create configmap first ${ns}`);
  const watch = admin.startKubectl(`get configmaps ${ns} --watch --output-watch-events`);
  expect(await watch.next()).toMatch(/^EVENT +NAME +DATA +AGE$/);
  expect(await watch.next()).toMatch(/^ADDED +first +0 +/);
  await admin.kubectl(`create configmap second ${ns} --from-literal=a=1`);
  await admin.kubectl(`patch configmap first ${ns} --type merge -p '{"data":{"b":"2"}}'`);
  await admin.kubectl(`delete configmap second ${ns}`);
  expect(await watch.next()).toMatch(/^ADDED +second +1 +/);
  expect(await watch.next()).toMatch(/^MODIFIED +first +1 +/);
  expect(await watch.next()).toMatch(/^DELETED +second +1 +/);
  await watch.stop();
});

describe('changes', () => {
  test('by JSON, merge and strategic patch', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`apply ${ns} -f -`, DEPLOYMENT);
    const containers = (): Promise<string> =>
      admin.kubectl(`get deploy web ${ns} -o jsonpath='{range .spec.template.spec.containers[*]}{.name}={.image} {end}'`);
    await admin.kubectl(`patch deploy web ${ns} --type strategic -p '{"spec":{"template":{"spec":{"containers":[{"name":"proxy","image":"envoy:1"}]}}}}'`);
    expect(await containers()).toBe('proxy=envoy:1 web=nginx:1.29 ');
    await admin.kubectl(`patch deploy web ${ns} --type json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"envoy:2"}]'`);
    expect(await containers()).toBe('proxy=envoy:2 web=nginx:1.29 ');
    await admin.kubectl(`patch deploy web ${ns} --type merge -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:2"}]}}}}'`);
    expect(await containers()).toBe('web=nginx:2 ');
    expect(await admin.kubectl(`patch deploy web ${ns} -p '{"spec":{"replicas":2}}'`)).toBe('deployment.apps/web patched (no change)\n');
  });

  test('by an editor', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`create configmap edited ${ns} --from-literal=a=1`);
    const editor = join(admin.home, 'editor.sh');
    writeFileSync(editor, '#!/bin/sh\nsed -i \'s/a: "1"/a: "2"/\' "$1"\n', { mode: 0o755 });
    const edited = await admin.tryKubectl(`edit configmap edited ${ns}`, '', { KUBE_EDITOR: editor });
    expect(edited).toMatchObject({ exit: 0, stdout: 'configmap/edited edited\n' });
    expect(await admin.kubectl(`get configmap edited ${ns} -o jsonpath={.data.a}`)).toBe('2');
  });

  test('label and annotate', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`create configmap c ${ns}`);
    expect(await admin.kubectl(`label configmap c ${ns} tier=front`)).toBe('configmap/c labeled\n');
    expect((await admin.tryKubectl(`label configmap c ${ns} tier=back`)).stderr).toContain('already has a value (front), and --overwrite is false');
    expect(await admin.kubectl(`label configmap c ${ns} tier=back --overwrite`)).toBe('configmap/c labeled\n');
    expect(await admin.kubectl(`label configmap c ${ns} tier-`)).toBe('configmap/c unlabeled\n');
    expect(await admin.kubectl(`annotate configmap c ${ns} note='a long one'`)).toBe('configmap/c annotated\n');
    expect(await admin.kubectl(`get configmap c ${ns} -o jsonpath='{.metadata.labels}{.metadata.annotations}'`)).toBe('{"note":"a long one"}');
  });

  test('scale', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`apply ${ns} -f -`, DEPLOYMENT);
    expect(await admin.kubectl(`scale deploy web ${ns} --replicas 5`)).toBe('deployment.apps/web scaled\n');
    expect(await admin.kubectl(`get deploy web ${ns} -o jsonpath='{.spec.replicas} {.metadata.generation}'`)).toBe('5 2');
    expect((await admin.tryKubectl(`scale deploy web ${ns} --replicas 5 --current-replicas 3`)).stderr).toContain('Expected replicas to be 3, was 5');
  });

  test('set image and rollout', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`apply ${ns} -f -`, DEPLOYMENT);
    expect(await admin.kubectl(`set image deploy/web web=nginx:9 ${ns}`)).toBe('deployment.apps/web image updated\n');
    expect(await admin.kubectl(`rollout restart deploy/web ${ns}`)).toBe('deployment.apps/web restarted\n');
    expect(await admin.kubectl(`rollout status deploy/web ${ns} --watch=false`)).toBe('Waiting for deployment spec update to be observed...\n');
    expect((await admin.tryKubectl(`rollout status deploy ${ns} -l app=none`)).stderr).toMatch(/^No resources found in test-\d+ namespace\.\n$/);
  });

  test('replace, and a conflict', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`create -f - ${ns}`, configMap({ a: '1' }));
    const old = await admin.kubectl(`get configmap settings ${ns} -o json`);
    expect(await admin.kubectl(`replace -f - ${ns}`, configMap({ b: '2' }))).toBe('configmap/settings replaced\n');
    const conflict = await admin.tryKubectl(`replace -f - ${ns}`, old);
    expect(conflict.exit).toBe(1);
    expect(conflict.stderr).toContain('the object has been modified; please apply your changes to the latest version and try again');
    expect(await admin.kubectl(`get configmap settings ${ns} -o jsonpath={.data}`)).toBe('{"b":"2"}');
  });
});

describe('delete', () => {
  test('one, many by label, and by what is in a file', async () => {
    const ns = await inNamespace();
    for (const name of ['a', 'b', 'c']) await admin.kubectl(`create configmap ${name} ${ns}`);
    await admin.kubectl(`label configmap b c kill=yes ${ns}`);
    expect(await admin.kubectl(`delete configmap a ${ns} --wait`)).toMatch(/^configmap "a" deleted/);
    expect(await admin.kubectl(`delete configmap -l kill=yes ${ns}`)).toMatch(/^configmap "b" deleted.*\nconfigmap "c" deleted.*\n$/);
    expect((await admin.tryKubectl(`delete configmap a ${ns}`)).stderr).toBe('Error from server (NotFound): configmaps "a" not found\n');
    expect(await admin.kubectl(`delete configmap a ${ns} --ignore-not-found`)).toBe('');
  });

  test('waits for finalizers, and `wait` sees the end', async () => {
    const ns = await inNamespace();
    const held = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    await admin.kubectl(`create -f - ${ns}`, JSON.stringify(held));
    const deleting = admin.kubectl(`delete configmap held ${ns} --wait`);
    while ((await admin.kubectl(`get configmap held ${ns} -o jsonpath={.metadata.deletionTimestamp}`)) === '');
    expect((await admin.tryKubectl(`wait configmap held ${ns} --for=delete --timeout=100ms`)).stderr).toContain('timed out waiting for the condition');
    const waiting = admin.kubectl(`wait configmap held ${ns} --for=delete --timeout=30s`);
    await admin.kubectl(`patch configmap held ${ns} --type merge -p '{"metadata":{"finalizers":null}}'`);
    expect(await deleting).toMatch(/^configmap "held" deleted/);
    // Nothing is printed where the object went before the command looked.
    expect(await waiting).toMatch(/^(configmap\/held condition met\n)?$/);
  });
});

test('wait for a condition', async () => {
  const ns = await inNamespace();
  await admin.kubectl(`apply ${ns} -f -`, DEPLOYMENT);
  const waiting = admin.kubectl(`wait deploy web ${ns} --for=condition=Available --timeout=30s`);
  const status = { status: { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True', reason: 'Made', message: 'so' }] } };
  await admin.kubectl(`patch deploy web ${ns} --subresource=status --type merge -p '${JSON.stringify(status)}'`);
  expect(await waiting).toBe('deployment.apps/web condition met\n');
  expect(await admin.kubectl(`wait deploy web ${ns} --for=jsonpath={.spec.replicas}=2 --timeout=30s`)).toBe('deployment.apps/web condition met\n');
});

describe('what is wrong is said', () => {
  test('all that is invalid, at once', async () => {
    const ns = await inNamespace();
    const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Bad_Name' }, data: { 'a/b': 'c' } };
    const answer = await admin.tryKubectl(`create ${ns} -f -`, JSON.stringify(bad));
    expect(answer.exit).toBe(1);
    expect(answer.stderr).toMatch(/^The ConfigMap "Bad_Name" is invalid: \n\* metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/);
    expect(answer.stderr).toContain('* data[a/b]: Invalid value: "a/b": a valid config key must consist of');
  });

  test('fields that do not exist', async () => {
    const ns = await inNamespace();
    const unknown = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, spec: { a: 1 } };
    const strict = await admin.tryKubectl(`create ${ns} -f -`, JSON.stringify(unknown));
    expect(strict.stderr).toContain('strict decoding error: unknown field "spec"');
    const lenient = await admin.tryKubectl(`create ${ns} --validate=warn -f -`, JSON.stringify(unknown));
    expect(lenient).toMatchObject({ exit: 0, stdout: 'configmap/c created\n', stderr: 'Warning: unknown field "spec"\n' });
  });

  test('what is there already, and a namespace that is not', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`create configmap twice ${ns}`);
    expect((await admin.tryKubectl(`create configmap twice ${ns}`)).stderr).toBe('error: failed to create configmap: configmaps "twice" already exists\n');
    expect((await admin.tryKubectl(`create configmap lost -n nowhere`)).stderr).toBe('error: failed to create configmap: namespaces "nowhere" not found\n');
  });
});

describe('discovery', () => {
  test('api-resources and api-versions', async () => {
    const resources = await admin.kubectl('api-resources');
    expect(resources).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\n/);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(await admin.kubectl('api-resources --namespaced=false -o name')).toContain('namespaces\n');
    const versions = (await admin.kubectl('api-versions')).split('\n');
    expect(versions).toContain('apps/v1');
    expect(versions).toContain('v1');
  });

  test('explain', async () => {
    const explained = await admin.kubectl('explain deployment.spec.replicas');
    expect(explained).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n\nFIELD: replicas <integer>\n/);
    expect(await admin.kubectl('explain configmap')).toMatch(/^ {2}data\t<map\[string\]string>$/m);
    expect((await admin.tryKubectl('explain deployment.spec.nothing')).stderr).toBe('error: field "nothing" does not exist\n');
  });

  test('cluster-info and version', async () => {
    expect(await admin.kubectl('cluster-info')).toContain(`is running at`);
    expect(await admin.kubectl('version')).toMatch(/^Server Version: v1\.36\.\d+$/m);
  });
});

describe('who may what', () => {
  test('auth whoami and can-i', async () => {
    const alice = new Clients(server, 'alice');
    expect(await alice.kubectl(`auth whoami -o jsonpath={.status.userInfo.username}`)).toBe('alice');
    expect(await admin.kubectl('auth can-i create pods')).toBe('yes\n');
    expect(await alice.tryKubectl('auth can-i create pods')).toMatchObject({ exit: 1, stdout: 'no\n' });
    expect(await alice.kubectl('auth can-i --list')).toMatch(/selfsubjectaccessreviews\.authorization\.k8s\.io/);
  });

  test('create token, which the server then knows', async () => {
    const ns = await inNamespace();
    await admin.kubectl(`create serviceaccount robot ${ns}`);
    const token = (await admin.kubectl(`create token robot ${ns} --duration=10m`)).trim();
    const robot = new ApiClient({ port: server.port, ca: server.ca, token });
    const review = await robot.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
    robot.close();
    expect(review).toMatchObject({ status: { userInfo: { username: expect.stringMatching(/^system:serviceaccount:test-\d+:robot$/) } } });
  });

  test('certificate approve and deny', async () => {
    const request = Buffer.from(CERTIFICATE_REQUEST).toString('base64');
    const api = server.client('admin');
    const spec = { request, signerName: 'example.com/signer', usages: ['client auth'] };
    for (const name of ['approved', 'denied']) await api.create('/apis/certificates.k8s.io/v1/certificatesigningrequests', { metadata: { name }, spec });
    api.close();
    expect(await admin.kubectl('certificate approve approved')).toBe('certificatesigningrequest.certificates.k8s.io/approved approved\n');
    expect(await admin.kubectl('certificate deny denied')).toBe('certificatesigningrequest.certificates.k8s.io/denied denied\n');
    const listed = await admin.kubectl('get csr --no-headers -o custom-columns=N:.metadata.name,C:.status.conditions[*].type');
    expect(listed).toMatch(/^approved +Approved\ndenied +Denied\n$/);
  });

  test('the others are told what they may not, until they may', async () => {
    const ns = await inNamespace();
    const bob = new Clients(server, 'bob');
    const refused = await bob.tryKubectl(`get configmaps ${ns}`);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toMatch(
      /^Error from server \(Forbidden\): configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "test-\d+"\n$/,
    );
    await admin.kubectl(`create role reader --verb=get,list --resource=configmaps ${ns}`);
    await admin.kubectl(`create rolebinding bob-reads --role=reader --user=bob ${ns}`);
    expect((await bob.tryKubectl(`get configmaps ${ns}`)).exit).toBe(0);
    expect((await bob.tryKubectl(`create configmap c ${ns}`)).stderr).toContain('configmaps is forbidden');
  });
});
