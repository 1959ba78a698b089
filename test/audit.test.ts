import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startAuditReceiver } from './support/audit-receiver.ts';
import { CommandProcess, startServer, temporaryFolder } from './support/server.ts';

const NAMESPACED = '/api/v1/namespaces/default';
const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, nonResourceURLs: ["/metrics", "/readyz*"]}
- {level: RequestResponse, omitManagedFields: true, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
`;

interface Event {
  auditID: string;
  level: string;
  stage: string;
  verb: string;
  requestURI: string;
  user: { username?: string };
  responseStatus?: { code?: number };
  requestObject?: object;
  responseObject?: { kind: string };
}

function writePolicy(text = POLICY): string {
  const path = join(temporaryFolder(), 'policy.yaml');
  writeFileSync(path, text);
  return path;
}

const eventsIn = (path: string): Event[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);

const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});

/** Takes events; `answer` says with which code, and may be late. */
async function startReceiver(answer: (call: number) => number | Promise<number> = () => 200) {
  const events: Event[] = [];
  const headers: (string | undefined)[] = [];
  let calls = 0;
  const { kubeconfig, close } = await startAuditReceiver(async (body, { authorization }) => {
    headers.push(authorization);
    const code = await answer(calls++);
    if (code === 200) events.push(...(JSON.parse(body.toString()) as { items: Event[] }).items);
    return code;
  });
  closers.push(close);
  return { events, headers, kubeconfig };
}

const configMap = (name: string): object => ({ metadata: { name }, data: { key: 'value' } });

describe('the log', () => {
  test('has every event of an answered request, though the server is killed', async () => {
    const log = join(temporaryFolder(), 'logs', 'audit.log');
    const server = await startServer({ flags: [`--audit-policy-file=${writePolicy()}`, `--audit-log-path=${log}`] });
    const client = server.client();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => client.send({ method: 'POST', path: `${NAMESPACED}/configmaps`, body: configMap(`c-${i}`) })),
    );
    await server.kill();
    const ids = new Set(eventsIn(log).map(({ auditID }) => auditID));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(answers.filter(({ headers }) => !ids.has(String(headers['audit-id'])))).toEqual([]);
  });

  test('shows objects only as the policy says, and secrets never at Metadata', async () => {
    const log = join(temporaryFolder(), 'audit.log');
    const server = await startServer({ flags: [`--audit-policy-file=${writePolicy()}`, `--audit-log-path=${log}`] });
    const client = server.client();
    await client.send({ method: 'POST', path: `${NAMESPACED}/secrets`, body: { metadata: { name: 's' }, stringData: { key: 'hush-hush' } } });
    await client.send({ path: `${NAMESPACED}/secrets/s` });
    await client.send({ method: 'POST', path: `${NAMESPACED}/configmaps`, body: configMap('c') });
    await client.send({ path: `${NAMESPACED}/configmaps/c`, headers: { accept: 'application/vnd.kubernetes.protobuf' } });
    await client.send({ path: `${NAMESPACED}/configmaps`, headers: { accept: 'application/yaml' } });
    await client.send({ path: `${NAMESPACED}/configmaps/none` });
    await server.client('').send({ path: `${NAMESPACED}/configmaps/c` });
    expect((await server.client('').send({ path: '/api/v1/pods', headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    const watch = await client.watch(`${NAMESPACED}/secrets?watch=true`);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    await watch.ended;

    const text = readFileSync(log, 'utf8');
    expect(text).not.toContain('hush-hush');
    expect(text).not.toContain(Buffer.from('hush-hush').toString('base64'));
    expect(text).not.toContain('managedFields');
    expect(text).not.toContain('-token"');
    const rows = eventsIn(log).map(({ level, stage, verb, user, responseStatus, requestObject, responseObject }) =>
      [level, stage, verb, user.username ?? '-', responseStatus?.code, requestObject ? 'sent' : '', responseObject?.kind ?? ''].join(' '),
    );
    expect(rows).toEqual([
      'Metadata ResponseComplete create admin 201  ',
      'Metadata ResponseComplete get admin 200  ',
      'RequestResponse ResponseComplete create admin 201 sent ConfigMap',
      'RequestResponse ResponseComplete get admin 200  ConfigMap',
      'RequestResponse ResponseComplete list admin 200  ConfigMapList',
      'RequestResponse ResponseComplete get admin 404  Status',
      'RequestResponse ResponseComplete get system:anonymous 403  Status',
      'Metadata ResponseStarted list - 401  ',
      'Metadata ResponseStarted watch admin 200  ',
      'Metadata ResponseComplete watch admin 200  ',
    ]);
  });
});

describe('the webhook', () => {
  test('has everything once the server has stopped, though it was slow and failed, and so has the log', async () => {
    const receiver = await startReceiver(async (call) => {
      await new Promise((resolve) => void setTimeout(resolve, 50));
      return call % 3 === 0 ? 500 : 200;
    });
    const log = join(temporaryFolder(), 'audit.log');
    const server = await startServer({
      flags: [
        `--audit-policy-file=${writePolicy()}`,
        `--audit-log-path=${log}`,
        '--audit-log-mode=batch',
        `--audit-webhook-config-file=${receiver.kubeconfig}`,
        '--audit-webhook-batch-max-size=10',
        '--audit-webhook-initial-backoff=5ms',
      ],
    });
    const client = server.client();
    const answers = await Promise.all(Array.from({ length: 95 }, (_, i) => client.send({ path: `${NAMESPACED}/secrets/s-${i}` })));
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    const ids = answers.map(({ headers }) => String(headers['audit-id'])).toSorted();
    expect(receiver.events.map(({ auditID }) => auditID).toSorted()).toEqual(ids);
    expect(
      eventsIn(log)
        .map(({ auditID }) => auditID)
        .toSorted(),
    ).toEqual(ids);
    expect(new Set(receiver.headers)).toEqual(new Set(['Bearer webhook-token']));
  });

  test('has an event before the client has its answer, in blocking mode', async () => {
    const receiver = await startReceiver();
    const server = await startServer({
      flags: [`--audit-policy-file=${writePolicy()}`, `--audit-webhook-config-file=${receiver.kubeconfig}`, '--audit-webhook-mode=blocking'],
    });
    const { headers } = await server.client().send({ path: '/version' });
    expect(receiver.events.map(({ auditID }) => auditID)).toEqual([headers['audit-id']]);
    await server.stop();
  });

  test('that fails has requests refused in blocking-strict mode, and counted', async () => {
    const receiver = await startReceiver(() => 503);
    const server = await startServer({
      flags: [
        `--audit-policy-file=${writePolicy(POLICY.replace(/omitStages.*\n/, ''))}`,
        `--audit-webhook-config-file=${receiver.kubeconfig}`,
        '--audit-webhook-mode=blocking-strict',
        '--audit-webhook-initial-backoff=1ms',
      ],
    });
    const client = server.client();
    const answer = await client.send({ path: '/version' });
    expect([answer.status, answer.text]).toEqual([500, 'Internal Server Error: "/version": failed to store audit event\n']);
    const metrics = (await client.send({ path: '/metrics' })).text;
    expect(metrics).toContain('\napiserver_audit_requests_rejected_total 1\n');
    expect(metrics).toContain('\napiserver_audit_error_total{plugin="webhook"} 1\n');
    expect(metrics).toContain('\napiserver_audit_event_total 1\n');
    expect(metrics).toMatch(/\napiserver_audit_level_total\{level="Metadata"\} 1\n/);
    await server.stop();
  });
});

describe('a server does not start', () => {
  test.each([
    ['with a policy that is none', POLICY.replace('level: Metadata', 'level: Loud'), 'rules[2].level: Unsupported value: "Loud"'],
    ['with a policy of no rules', 'apiVersion: audit.k8s.io/v1\nkind: Policy\n', 'loaded illegal policy with 0 rules: from file'],
  ])('%s', async (_what, policy, message) => {
    const folder = temporaryFolder();
    const command = new CommandProcess([
      'serve',
      '--storage-backend=memory',
      `--data-dir=${folder}`,
      '--secure-port=0',
      '--bind-address=127.0.0.1',
      `--audit-policy-file=${writePolicy(policy)}`,
      `--audit-log-path=${join(folder, 'audit.log')}`,
    ]);
    expect((await command.exited).code).toBe(1);
    expect(command.lines.join('\n')).toContain('loading audit policy file: ');
    expect(command.lines.join('\n')).toContain(message);
  });
});
