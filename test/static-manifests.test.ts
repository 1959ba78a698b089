import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from './support/server.ts';
import { WebhookServer } from './support/webhook-server.ts';

/* ManifestBasedAdmissionControlConfig (KEP-5793): webhooks and policies from folders beside the server. */

const GATE = '--feature-gates=ManifestBasedAdmissionControlConfig=true';
const MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';

const RULES = [
  { apiGroups: ['', 'admissionregistration.k8s.io'], apiVersions: ['*'], operations: ['CREATE'], resources: ['configmaps', 'validatingadmissionpolicies'] },
];
const policy = (name: string, expression: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules: RULES }, validations: [{ expression, message: `${name} says no` }] },
});
const binding = (name: string, policyName: string) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'] },
});

let folder: string;
function configure(plugin: string): string[] {
  folder = join(temporaryFolder(), 'manifests');
  mkdirSync(folder);
  const kind = plugin.endsWith('Webhook') ? 'WebhookAdmissionConfiguration' : `${plugin}Configuration`;
  const path = join(folder, '..', 'admission.json');
  const plugins = [{ name: plugin, configuration: { apiVersion: 'apiserver.config.k8s.io/v1', kind, staticManifestsDir: folder } }];
  writeFileSync(path, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration', plugins }));
  return [`--admission-control-config-file=${path}`, GATE];
}
const write = (name: string, ...objects: object[]): void => writeFileSync(join(folder, name), objects.map((object) => JSON.stringify(object)).join('\n---\n'));

const servers: ServerProcess[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function start(flags: string[]): Promise<ServerProcess> {
  const server = await startServer({ flags });
  servers.push(server);
  return server;
}

describe('policies', () => {
  test('are in force from the start, also for policies of the API, and cannot be seen or changed there', async () => {
    const flags = configure('ValidatingAdmissionPolicy');
    write('a.yaml', policy('no-x.static.k8s.io', "object.metadata.name != 'x'"), binding('no-x.static.k8s.io', 'no-x.static.k8s.io'));
    writeFileSync(join(folder, 'ignored.txt'), 'not a manifest');
    const client = (await start(flags)).client();
    const refused = (await client.expect(422, { method: 'POST', path: MAPS, body: { metadata: { name: 'x' } } })).json();
    expect(refused).toMatchObject({
      message:
        "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'no-x.static.k8s.io' with binding 'no-x.static.k8s.io' denied request: no-x.static.k8s.io says no",
    });
    await client.create(MAPS, { metadata: { name: 'y' } });
    await client.expect(422, { method: 'POST', path: `${GROUP}/validatingadmissionpolicies`, body: policy('x', 'true') });
    await client.create(`${GROUP}/validatingadmissionpolicies`, policy('y', 'true'));
    await client.expect(404, { path: `${GROUP}/validatingadmissionpolicies/no-x.static.k8s.io` });
    const named = (await client.expect(422, { method: 'POST', path: `${GROUP}/validatingadmissionpolicies`, body: policy('a.static.k8s.io', 'true') })).json();
    expect(named).toMatchObject({
      message:
        'ValidatingAdmissionPolicy.admissionregistration.k8s.io "a.static.k8s.io" is invalid: metadata.name: Invalid value: "a.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    });
  });

  test('are read again when they change; what cannot be used changes nothing, and is counted', async () => {
    const flags = configure('ValidatingAdmissionPolicy');
    const client = (await start(flags)).client();
    await client.create(MAPS, { metadata: { name: 'x' } });
    write('a.json', policy('no-x.static.k8s.io', "object.metadata.name != 'x'"), binding('no-x.static.k8s.io', 'no-x.static.k8s.io'));
    const dryRun = async (name: string): Promise<number> =>
      (await client.send({ method: 'POST', path: `${MAPS}?dryRun=All`, body: { metadata: { name } } })).status;
    await expect.poll(() => dryRun('x'), { timeout: 30_000 }).toBe(422);
    write('a.json', { kind: 'Nonsense', apiVersion: 'v1' });
    const metrics = async (): Promise<string> => (await client.send({ path: '/metrics' })).body.toString();
    const failures = /apiserver_manifest_admission_config_controller_automatic_reloads_total\{[^}]*plugin="ValidatingAdmissionPolicy",status="failure"\} [1-9]/;
    await expect.poll(metrics, { timeout: 30_000 }).toMatch(failures);
    expect(await dryRun('x')).toBe(422);
    expect(await metrics()).toMatch(
      /apiserver_manifest_admission_config_controller_last_config_info\{[^}]*hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionPolicy"\} 1/,
    );
    rmSync(join(folder, 'a.json'));
    await expect.poll(() => dryRun('x'), { timeout: 30_000 }).toBe(409);
  });

  test.each<[string, () => void, string]>([
    ['another name', () => write('a.json', policy('plain', 'true')), '"plain" in file "FOLDER/a.json" must have a name ending with ".static.k8s.io"'],
    ['no name', () => write('a.json', { ...policy('', 'true'), metadata: {} }), 'name'],
    [
      'a name twice',
      () => write('a.json', policy('a.static.k8s.io', 'true'), policy('a.static.k8s.io', 'true')),
      'duplicate name "a.static.k8s.io" found in file "FOLDER/a.json" (previously seen in "FOLDER/a.json")',
    ],
    [
      'another kind',
      () => write('a.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a.static.k8s.io' } }),
      'error loading FOLDER/a.json: unsupported resource type',
    ],
    ['a field that is not known', () => write('a.json', { ...policy('a.static.k8s.io', 'true'), more: 1 }), 'strict decoding error: unknown field "more"'],
    [
      'what breaks a rule',
      () => write('a.json', policy('a.static.k8s.io', 'object.')),
      'ValidatingAdmissionPolicy "a.static.k8s.io": spec.validations[0].expression',
    ],
    [
      'a binding of nothing',
      () => write('a.json', binding('b.static.k8s.io', 'a.static.k8s.io')),
      'binding "b.static.k8s.io" references policy "a.static.k8s.io" which does not exist in the manifest directory',
    ],
    [
      'a binding of a policy of the API',
      () => write('a.json', binding('b.static.k8s.io', 'a')),
      'binding "b.static.k8s.io": spec.policyName "a" must end with ".static.k8s.io"',
    ],
    [
      'parameters',
      () => write('a.json', { ...policy('a.static.k8s.io', 'true'), spec: { ...policy('', 'true').spec, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } }),
      'ValidatingAdmissionPolicy "a.static.k8s.io": spec.paramKind is not supported for static manifests',
    ],
  ])('with %s keep the server from starting', async (_what, make, words) => {
    const flags = configure('ValidatingAdmissionPolicy');
    make();
    const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', ...flags]);
    expect(await command.exited).toMatchObject({ code: 1 });
    const told = command.lines.join('\n');
    expect(told).toContain(`couldn't init admission plugin "ValidatingAdmissionPolicy": failed to load static policy manifests from "${folder}": `);
    expect(told).toContain(words.replaceAll('FOLDER', folder));
  });
});

describe('webhooks', () => {
  const configuration = (name: string, clientConfig: object) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [{ name: 'guard.example.com', clientConfig, rules: RULES, sideEffects: 'None', admissionReviewVersions: ['v1'] }],
  });

  test('are asked, also about policies of the API', async () => {
    const webhook = await new WebhookServer(({ name }) => ({ allowed: name !== 'x', status: { message: 'the guard says no' } })).listen();
    const flags = configure('ValidatingAdmissionWebhook');
    write('list.json', { apiVersion: 'v1', kind: 'List', items: [configuration('guard.static.k8s.io', webhook.clientConfig)] });
    const client = (await start(flags)).client();
    expect((await client.expect(400, { method: 'POST', path: MAPS, body: { metadata: { name: 'x' } } })).json()).toMatchObject({
      message: 'admission webhook "guard.example.com" denied the request: the guard says no',
    });
    await client.create(MAPS, { metadata: { name: 'y' } });
    await client.expect(400, { method: 'POST', path: `${GROUP}/validatingadmissionpolicies`, body: policy('x', 'true') });
    webhook.respond = () => 'nonsense';
    await client.expect(500, { method: 'POST', path: MAPS, body: { metadata: { name: 'z' } } });
  });

  test.each([
    ['a service', { service: { name: 'a', namespace: 'b' } }, 'clientConfig.service is not supported for static manifests; use clientConfig.url instead'],
    ['no address', {}, 'webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
  ])('with %s keep the server from starting', async (_what, clientConfig, words) => {
    const flags = configure('ValidatingAdmissionWebhook');
    write('a.yml', configuration('guard.static.k8s.io', clientConfig));
    const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', ...flags]);
    expect(await command.exited).toMatchObject({ code: 1 });
    expect(command.lines.join('\n')).toContain(`failed to load static webhook manifests from "${folder}": error loading ${folder}/a.yml: `);
    expect(command.lines.join('\n')).toContain(words);
  });
});
