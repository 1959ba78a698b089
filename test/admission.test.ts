import { writeFileSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../src/serving/certificates/create.ts';
import type { ApiClient, TestObject } from './support/api-client.ts';
import { ServerProcess, startServer, temporaryFolder } from './support/server.ts';
import { ALLOWED, WebhookServer, patched } from './support/webhook-server.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';

const authority = createAuthority({ commonName: 'review-ca' });
const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close().closeAllConnections()));

/** A server over TLS that knows its callers by certificate or header, and answers as told. */
class ReviewServer {
  readonly callers: { name: string; authorization: string | undefined }[] = [];
  readonly bodies: { spec: { containers?: { image: string }[]; annotations?: object; namespace?: string }; request?: { uid: string } }[] = [];
  answer: (body: ReviewServer['bodies'][0]) => { code?: number; body: object | string } = () => ({ body: {} });
  readonly #server: Server;

  constructor() {
    const { certPem, keyPem } = signCertificate(authority, { commonName: 'reviews', usages: ['server'], hosts: ['localhost'], ips: ['127.0.0.1'] });
    this.#server = createServer({ cert: certPem, key: keyPem, ca: authority.certPem, requestCert: true, rejectUnauthorized: false }, (request, response) =>
      this.#read(request).then(({ code = 200, body }) => response.writeHead(code).end(typeof body === 'string' ? body : JSON.stringify(body))),
    );
    servers.push(this.#server);
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async #read(request: IncomingMessage) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as ReviewServer['bodies'][0];
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    this.callers.push({ name: String(subject?.CN ?? ''), authorization: request.headers.authorization });
    this.bodies.push(body);
    return this.answer(body);
  }
}

/** Writes files of these names, and answers with the path of the first. */
function files(contents: Record<string, string>, folder = temporaryFolder()): string {
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, name), text);
  return join(folder, Object.keys(contents)[0]!);
}

const caData = Buffer.from(authority.certPem).toString('base64');
const certificate = (name: string): { cert: string; key: string } => {
  const { certPem, keyPem } = signCertificate(authority, { commonName: name, usages: ['client'] });
  return { cert: Buffer.from(certPem).toString('base64'), key: Buffer.from(keyPem).toString('base64') };
};
const certificateUser = (name: string, commonName: string): string => {
  const { cert, key } = certificate(commonName);
  return `{name: '${name}', user: {client-certificate-data: ${cert}, client-key-data: ${key}}}`;
};

/** A server whose plug-ins are configured so: the text stands in the file under `plugins`. */
const configuredWith = (plugins: string): string =>
  `--admission-control-config-file=${files({ 'admission.yaml': `kind: AdmissionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nplugins:\n${plugins}` })}`;

const pod = (name: string, image = 'good', annotations = {}): object => ({ metadata: { name, annotations }, spec: { containers: [{ name: 'c', image }] } });
const withServiceAccount = async (client: ApiClient): Promise<ApiClient> => {
  await client.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  return client;
};

const AUDIT_POLICY = (level: string): string => `{apiVersion: audit.k8s.io/v1, kind: Policy, omitStages: [RequestReceived], rules: [{level: ${level}}]}`;
interface AuditEvent {
  verb: string;
  objectRef?: { resource: string; name?: string };
  annotations?: Record<string, string>;
}
function annotationsOf(log: string, name: string): Record<string, string> {
  const events = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent);
  const found = events.find(({ verb, objectRef }) => verb === 'create' && objectRef?.name === name)?.annotations ?? {};
  // Requests that take half a second tell where it went, which depends on the machine.
  return Object.fromEntries(Object.entries(found).filter(([key]) => !/^(authorization|apiserver\.latency)\./.test(key)));
}

describe('ImagePolicyWebhook', () => {
  const check = new ReviewServer();
  let client: ApiClient;
  let auditLog: string;

  const kubeconfig = (): string =>
    files({
      kubeconfig: `{clusters: [{name: c, cluster: {server: 'https://127.0.0.1:${check.port}/images', certificate-authority-data: ${caData}}}], users: [${certificateUser('u', 'api-server')}], contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}`,
    });
  const start = async (more: string): Promise<ServerProcess> => {
    auditLog = join(temporaryFolder(), 'audit.log');
    const flags = [
      '--enable-admission-plugins=ImagePolicyWebhook',
      configuredWith(`- {name: ImagePolicyWebhook, configuration: {imagePolicy: {kubeConfigFile: ${kubeconfig()}, retryBackoff: 1${more}}}}`),
      `--audit-policy-file=${files({ policy: AUDIT_POLICY('Metadata') })}`,
      `--audit-log-path=${auditLog}`,
    ];
    return startServer({ flags });
  };
  const verdict = (status: object): { body: object } => ({ body: { kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1', status } });

  beforeAll(async () => {
    await check.listen();
    check.answer = ({ spec }) =>
      spec.containers?.some(({ image }) => image.startsWith('bad'))
        ? verdict({ allowed: false, ...(spec.containers[0]!.image === 'bad-why' && { reason: 'no signature' }) })
        : verdict({ allowed: true, auditAnnotations: { checked: 'yes', 'not/ok': 'x' } });
    client = await withServiceAccount((await start('')).client());
  });

  test('asks as the user of the kubeconfig, shows images and its own annotations, and remembers the answer', async () => {
    const annotations = { 'team.image-policy.k8s.io/break-glass': 'ticket-1', other: 'x' };
    const body = pod('first', 'good:1', annotations) as { spec: object };
    await client.create(PODS, { ...body, spec: { ...body.spec, initContainers: [{ name: 'i', image: 'good:2' }] } });
    expect(check.callers).toEqual([{ name: 'api-server', authorization: undefined }]);
    expect(check.bodies[0]).toEqual({
      kind: 'ImageReview',
      apiVersion: 'imagepolicy.k8s.io/v1alpha1',
      metadata: {},
      spec: {
        containers: [{ image: 'good:1' }, { image: 'good:2' }],
        annotations: { 'team.image-policy.k8s.io/break-glass': 'ticket-1' },
        namespace: 'default',
      },
      status: { allowed: false },
    });
    expect(annotationsOf(auditLog, 'first')['imagepolicywebhook.image-policy.k8s.io/checked']).toBe('yes');
    const asked = check.bodies.length;
    await client.create(PODS, pod('second', 'good:3'));
    await client.create(PODS, pod('third', 'good:3'));
    expect(check.bodies.length).toBe(asked + 1);
    await client.create(CONFIG_MAPS, { metadata: { name: 'unjudged' } });
    expect(check.bodies.length).toBe(asked + 1);
  });

  test.each([
    ['bad', 'pods "refused" is forbidden: one or more images rejected by webhook backend'],
    ['bad-why', 'pods "refused" is forbidden: image policy webhook backend denied one or more images: no signature'],
  ])('%s is refused', async (image, message) => {
    const answer = await client.send({ method: 'POST', path: PODS, body: pod('refused', image) });
    expect([answer.status, answer.json<{ message: string }>().message]).toEqual([403, message]);
  });

  test('checks the images that ephemeral containers and updates bring', async () => {
    await client.create(PODS, pod('running', 'good:4'));
    const path = `${PODS}/running`;
    const patch = { 'content-type': 'application/strategic-merge-patch+json' };
    const ephemeral = (image: string) =>
      client.send({ method: 'PATCH', path: `${path}/ephemeralcontainers`, headers: patch, body: { spec: { ephemeralContainers: [{ name: 'e', image }] } } });
    expect((await ephemeral('bad')).status).toBe(403);
    expect((await ephemeral('good:5')).status).toBe(200);
    expect(check.bodies.at(-1)!.spec.containers).toEqual([{ image: 'good:5' }]);
    const changed = await client.send({ method: 'PATCH', path, headers: patch, body: { spec: { containers: [{ name: 'c', image: 'bad' }] } } });
    expect(changed.status).toBe(403);
  });

  test('without a verdict, refuses or lets pass as it is configured', async () => {
    const { answer } = check;
    const asked = check.bodies.length;
    check.answer = () => ({ code: 500, body: 'boom' });
    const refused = await client.send({ method: 'POST', path: PODS, body: pod('unjudged', 'good:6') });
    expect([refused.status, refused.json<{ message: string }>().message]).toEqual([
      403,
      'pods "unjudged" is forbidden: an error on the server ("boom") has prevented the request from succeeding',
    ]);
    // It may have been a moment's weakness.
    expect(check.bodies.length).toBe(asked + 5);
    check.answer = () => ({ body: '{"kind":"Pod","apiVersion":"v1"}' });
    expect((await client.send({ method: 'POST', path: PODS, body: pod('unjudged', 'good:7') })).status).toBe(403);

    const lenient = await withServiceAccount((await start(', defaultAllow: true')).client());
    const created: TestObject = await lenient.create(PODS, pod('let', 'good:8'));
    expect(created.metadata.annotations).toEqual({ 'alpha.image-policy.k8s.io/failed-open': 'true' });
    expect(annotationsOf(auditLog, 'let')['imagepolicywebhook.image-policy.k8s.io/failed-open']).toBe('true');
    check.answer = answer;
  });
});

describe('the configuration of plug-ins', () => {
  const failure = async (plugins: string, ...flags: string[]): Promise<string> => {
    const server = new ServerProcess({ flags: [configuredWith(plugins), ...flags] });
    const { code } = await server.exited;
    expect(code).not.toBe(0);
    return server.lines.join('\n');
  };
  const WEBHOOK = 'kind: WebhookAdmissionConfiguration, apiVersion: apiserver.config.k8s.io/v1';

  test.each([
    [
      `- {name: MutatingAdmissionWebhook, configuration: {${WEBHOOK}, staticManifestsDir: /etc}}`,
      'couldn\'t init admission plugin "MutatingAdmissionWebhook": staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled',
    ],
    [`- {name: ValidatingAdmissionWebhook, path: missing.yaml}`, 'couldn\'t init admission plugin "ValidatingAdmissionWebhook": '],
    [`- {name: ValidatingAdmissionWebhook, configuration: {kind: Foo, apiVersion: v1}}`, 'no kind "Foo" is registered for version "v1"'],
  ])('%s is refused', async (plugins, message) => {
    expect(await failure(plugins)).toContain(message);
  });

  test('a plug-in that cannot do without one is refused without it', async () => {
    expect(await failure('- {name: LimitRanger}', '--enable-admission-plugins=ImagePolicyWebhook')).toContain(
      'couldn\'t init admission plugin "ImagePolicyWebhook": no config specified',
    );
  });

  test('what is said in vain is told of', async () => {
    const server = await startServer({ flags: [configuredWith('- {name: LimitRanger, configuration: {a: b}}\n- {name: Frob, configuration: {a: b}}')] });
    const text = server.lines.join('\n');
    expect(text).toContain('the admission configuration has a part for LimitRanger, which reads none');
    expect(text).toContain('which is no plug-in that runs');
  });

  test('webhooks are called as the user whose name fits their server', async () => {
    const hook = await new ReviewServer().listen();
    hook.answer = ({ request }) => ({ body: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid: request!.uid, allowed: true } } });
    const folder = temporaryFolder();
    const token = files({ token: 'from-file' }, folder);
    const users = [
      certificateUser(`127.0.0.1:${hook.port}`, 'by-certificate'),
      `{name: 'hook.web.svc:${hook.port}', user: {tokenFile: ${token}}}`,
      `{name: '*', user: {username: a, password: b}}`,
    ];
    const path = files({ kubeconfig: `{kind: Config, apiVersion: v1, users: [${users.join(', ')}]}` }, folder);
    const flags = [configuredWith(`- {name: ValidatingAdmissionWebhook, configuration: {${WEBHOOK}, kubeConfigFile: ${path}}}`)];
    const client = (await startServer({ flags: [...flags, '--enable-aggregator-routing=true'] })).client();
    const register = (kind: string, name: string, host: string): Promise<unknown> =>
      client.create(`${GROUP}/${kind}webhookconfigurations`, {
        metadata: { name },
        webhooks: [
          {
            name: `${name}.example.com`,
            clientConfig: { url: `https://${host}:${hook.port}/`, caBundle: caData },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
    await register('validating', 'by-address', '127.0.0.1');
    await register('validating', 'by-name', 'localhost');
    // The other plug-in has no configuration.
    await register('mutating', 'unknown', '127.0.0.1');
    await client.create(CONFIG_MAPS, { metadata: { name: 'seen' } });
    const basic = `Basic ${Buffer.from('a:b').toString('base64')}`;
    expect(hook.callers).toHaveLength(3);
    expect(new Set(hook.callers)).toEqual(
      new Set([
        { name: '', authorization: undefined },
        { name: 'by-certificate', authorization: undefined },
        { name: '', authorization: basic },
      ]),
    );
  });
});

describe('what is told of webhooks', () => {
  const RULES = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const registered = async (client: ApiClient, kind: 'mutating' | 'validating', name: string, hook: WebhookServer, more: object = {}): Promise<void> => {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: hook.clientConfig,
      rules: RULES,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    };
    await client.create(`${GROUP}/${kind}webhookconfigurations`, { metadata: { name }, webhooks: [webhook] });
  };

  test.each(['Metadata', 'Request'])('in the audit log, at level %s', async (level) => {
    const log = join(temporaryFolder(), 'audit.log');
    const flags = [`--audit-policy-file=${files({ policy: AUDIT_POLICY(level) })}`, `--audit-log-path=${log}`];
    const client = (await startServer({ flags })).client();
    await registered(client, 'mutating', 'changing', await new WebhookServer(() => patched({ op: 'add', path: '/data', value: { a: 'b' } })).listen());
    await registered(client, 'mutating', 'failing', await new WebhookServer(() => '<html>').listen(), { failurePolicy: 'Ignore' });
    const annotated = { ...ALLOWED, auditAnnotations: { note: 'x', 'not/ok': 'y', 'no way': 'z' } };
    await registered(client, 'validating', 'noting', await new WebhookServer(() => annotated).listen());
    await client.create(CONFIG_MAPS, { metadata: { name: 'told' } });
    expect(annotationsOf(log, 'told')).toEqual({
      'mutation.webhook.admission.k8s.io/round_0_index_0': '{"configuration":"changing","webhook":"changing.example.com","mutated":true}',
      'mutation.webhook.admission.k8s.io/round_0_index_1': '{"configuration":"failing","webhook":"failing.example.com","mutated":false}',
      'failed-open.mutation.webhook.admission.k8s.io/round_0_index_1': 'failing.example.com',
      'noting.example.com/note': 'x',
      ...(level === 'Request' && {
        'patch.webhook.admission.k8s.io/round_0_index_0':
          '{"configuration":"changing","webhook":"changing.example.com","patch":[{"op":"add","path":"/data","value":{"a":"b"}}],"patchType":"JSONPatch"}',
      }),
    });
  });

  test('in the metrics', async () => {
    const client = (await startServer()).client();
    const matchConditions = [{ name: 'never', expression: 'false' }];
    await registered(client, 'mutating', 'open', await new WebhookServer(() => '<html>').listen(), { failurePolicy: 'Ignore' });
    await registered(client, 'mutating', 'kept', await new WebhookServer().listen(), { matchConditions });
    await registered(client, 'validating', 'no', await new WebhookServer(() => ({ allowed: false, status: { code: 418 } })).listen());
    const policy = {
      matchConstraints: { resourceRules: RULES },
      validations: [{ expression: "object.metadata.name != 'wrong'" }, { expression: 'object.none == 1' }],
    };
    await client.create(`${GROUP}/validatingadmissionpolicies`, { metadata: { name: 'rule' }, spec: { ...policy, failurePolicy: 'Ignore' } });
    await client.create(`${GROUP}/validatingadmissionpolicybindings`, {
      metadata: { name: 'bound' },
      spec: { policyName: 'rule', validationActions: ['Warn', 'Audit'] },
    });
    expect((await client.send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name: 'wrong' } } })).status).toBe(418);
    const metrics = (await client.send({ path: '/metrics' })).text;
    const counted = metrics.split('\n').filter((line) => /^apiserver_(admission_(webhook|match)|validating)\S*(_total|_count)\{/.test(line));
    expect(counted.toSorted()).toEqual(
      [
        'apiserver_admission_match_condition_evaluation_seconds_count{kind="webhook",name="kept.example.com",operation="CREATE",type="admit"} 1',
        'apiserver_admission_match_condition_exclusions_total{kind="webhook",name="kept.example.com",operation="CREATE",type="admit"} 1',
        'apiserver_admission_webhook_admission_duration_seconds_count{name="no.example.com",operation="CREATE",rejected="true",type="validating"} 1',
        'apiserver_admission_webhook_admission_duration_seconds_count{name="open.example.com",operation="CREATE",rejected="false",type="admit"} 1',
        'apiserver_admission_webhook_fail_open_count{name="open.example.com",type="admit"} 1',
        'apiserver_admission_webhook_rejection_count{error_type="no_error",name="no.example.com",operation="CREATE",rejection_code="418",type="validating"} 1',
        'apiserver_admission_webhook_request_total{code="418",name="no.example.com",operation="CREATE",rejected="true",type="validating"} 1',
        'apiserver_admission_webhook_request_total{code="503",name="open.example.com",operation="CREATE",rejected="false",type="admit"} 1',
        ...['audit', 'warn'].flatMap((action) => [
          `apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="${action}",error_type="invalid_error",policy="rule",policy_binding="bound"} 1`,
          `apiserver_validating_admission_policy_check_total{enforcement_action="${action}",error_type="invalid_error",policy="rule",policy_binding="bound"} 1`,
        ]),
        'apiserver_validating_admission_policy_check_duration_seconds_count{enforcement_action="allow",error_type="invalid_error",policy="rule",policy_binding="bound"} 1',
        'apiserver_validating_admission_policy_check_total{enforcement_action="allow",error_type="invalid_error",policy="rule",policy_binding="bound"} 1',
      ].toSorted(),
    );
    for (const [plugin, type] of [
      ['NamespaceLifecycle', 'admit'],
      ['ValidatingAdmissionWebhook', 'validate'],
    ])
      expect(metrics).toMatch(
        new RegExp(
          `apiserver_admission_controller_admission_duration_seconds_count\\{name="${plugin}",operation="CREATE",rejected="(true|false)",type="${type}"\\}`,
        ),
      );
    expect(metrics).toMatch(/apiserver_admission_step_admission_duration_seconds_summary_sum\{operation="CREATE",rejected="true",type="validate"\} \S+/);
  });
});

test('a version that is switched off is no equivalent of others', async () => {
  const hook = await new WebhookServer(() => ({ allowed: false })).listen();
  const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  const body = { metadata: { name: 'h' }, spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3 } };
  const webhook = {
    name: 'v1.example.com',
    clientConfig: hook.clientConfig,
    rules: [{ operations: ['CREATE'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] }],
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const statusWith = async (...flags: string[]): Promise<number> => {
    const server = await startServer({ flags });
    const client = server.client();
    await client.create(`${GROUP}/validatingwebhookconfigurations`, { metadata: { name: 'v1' }, webhooks: [webhook] });
    const { status } = await client.send({ method: 'POST', path: HPAS, body });
    await server.stop();
    return status;
  };
  expect(await statusWith()).toBe(400);
  expect(await statusWith('--runtime-config=autoscaling/v1=false')).toBe(201);
});

describe('the status of a validating policy', () => {
  const POLICIES = `${GROUP}/validatingadmissionpolicies`;
  let client: ApiClient;
  beforeAll(async () => {
    client = (await startServer({ flags: ['--controllers=validatingadmissionpolicy-status-controller'] })).client();
  });

  /** Watches until the controller has looked at the policy as it is now. */
  async function checked(name: string, resourceRules: object[], expression: string): Promise<unknown> {
    const watch = await client.watch(`${POLICIES}?watch=1&fieldSelector=metadata.name%3D${name}`);
    await client.create(POLICIES, { metadata: { name }, spec: { matchConstraints: { resourceRules }, validations: [{ expression }] } });
    for (;;) {
      const { object } = (await watch.next())!;
      const status = object.status as { observedGeneration?: number } | undefined;
      if (status?.observedGeneration !== object.metadata.generation) continue;
      watch.stop();
      return status;
    }
  }
  const rule = (apiGroups: string[], resources: string[]): object => ({ apiGroups, apiVersions: ['v1'], operations: ['CREATE'], resources });

  test('says where its expressions do not fit the kinds it is about', async () => {
    expect(await checked('wrong', [rule(['apps'], ['deployments'])], 'object.spec.replica > 1')).toEqual({
      observedGeneration: 1,
      typeChecking: {
        expressionWarnings: [
          {
            fieldRef: 'spec.validations[0].expression',
            warning: "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica > 1\n | ...........^\n",
          },
        ],
      },
    });
    expect(await checked('right', [rule(['apps'], ['deployments'])], 'object.spec.replicas > 1')).toEqual({ observedGeneration: 1, typeChecking: {} });
  });

  test('knows custom kinds by their schemas', async () => {
    const properties = { spec: { type: 'object', properties: { size: { type: 'integer' }, port: { 'x-kubernetes-int-or-string': true } } } };
    await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } }],
      },
    });
    const widgets = [rule(['example.com'], ['widgets'])];
    expect(await checked('custom', widgets, "object.spec.size > 1 && object.spec.port == 'http' && object.metadata.labels.a == 'b'")).toEqual({
      observedGeneration: 1,
      typeChecking: {},
    });
    expect(await checked('custom-wrong', widgets, "object.spec.size == 'a'")).toMatchObject({
      typeChecking: {
        expressionWarnings: [
          { warning: expect.stringContaining("example.com/v1, Kind=Widget: ERROR: <input>:1:18: found no matching overload for '_==_'") as string },
        ],
      },
    });
  });
});
