import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { ApiClient } from '../support/api-client.ts';
import { type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { OidcIssuer, createSigningKey, signToken } from './oidc-issuer.ts';
import { RemoteServer, kubeconfigOf } from './remote-server.ts';

/* What authentication, authorization, audit and flow control count is on /metrics, under upstream's names. */

const authority = createAuthority({ commonName: 'remote-ca' });
const clientAuthority = createAuthority({ commonName: 'client-ca' });
const key = createSigningKey('ES256');
const issuer = new OidcIssuer(authority, key);
const hooks = new RemoteServer(
  authority,
  ({ body }) => {
    const { kind, apiVersion, spec } = JSON.parse(body) as { kind: string; apiVersion: string; spec: { token?: string; user?: string } };
    if (spec.user === 'failing') return { status: 500 };
    return { body: { kind, apiVersion, status: kind === 'TokenReview' ? { authenticated: false } : { allowed: false } } };
  },
  clientAuthority,
);

const folder = temporaryFolder();
const pathOf = (name: string): string => join(folder, name);
const write = (name: string, content: string): string => {
  writeFileSync(pathOf(name), content);
  return pathOf(name);
};
const kubeconfig = (): string =>
  write('hooks.kubeconfig', kubeconfigOf(`${hooks.url}/`, authority, signCertificate(clientAuthority, { commonName: 'apiserver', usages: ['client'] })));
const authentication = (prefix: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: issuer.url, certificateAuthority: authority.certPem, audiences: ['binnacle'] },
        claimMappings: { username: { claim: 'sub', prefix } },
      },
    ],
  });
const authorization = (timeout: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [
      {
        type: 'Webhook',
        name: 'hook.example.com',
        webhook: {
          timeout,
          subjectAccessReviewVersion: 'v1',
          matchConditionSubjectAccessReviewVersion: 'v1',
          matchConditions: [{ expression: "request.user != 'bob'" }, { expression: "request.user != 'alice' || request.resourceAttributes.name == 'x'" }],
          failurePolicy: 'NoOpinion',
          connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig() },
        },
      },
      { type: 'RBAC', name: 'rbac' },
    ],
  });

let server: ServerProcess;
beforeAll(async () => {
  await Promise.all([issuer.server.listen(), hooks.listen()]);
  server = await startServer({
    flags: [
      `--authentication-config=${write('authentication.json', authentication(''))}`,
      `--authorization-config=${write('authorization.json', authorization('3s'))}`,
      `--authentication-token-webhook-config-file=${kubeconfig()}`,
      '--authentication-token-webhook-version=v1',
      `--audit-policy-file=${write('policy.yaml', JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }))}`,
      `--audit-log-path=${pathOf('audit.log')}`,
    ],
    hasAuthorizationMode: false,
  });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([issuer.server.close(), hooks.close()]);
});

const ask = async (token: string, path = '/api/v1/namespaces/default/configmaps'): Promise<number> => {
  const client = new ApiClient({ port: server.port, ca: server.ca, token });
  const { status } = await client.send({ path });
  client.close();
  return status;
};

const NAMES = [
  'apiserver_audit_event_total',
  'apiserver_audit_level_total',
  'apiserver_audit_requests_rejected_total',
  'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
  'apiserver_authentication_config_controller_automatic_reloads_total',
  'apiserver_authentication_config_controller_last_config_info',
  'apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info',
  'apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds',
  'apiserver_authentication_jwt_authenticator_latency_seconds',
  'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds',
  'apiserver_authorization_config_controller_automatic_reloads_total',
  'apiserver_authorization_config_controller_last_config_info',
  'apiserver_authorization_decisions_total',
  'apiserver_authorization_match_condition_evaluation_errors_total',
  'apiserver_authorization_match_condition_evaluation_seconds',
  'apiserver_authorization_match_condition_exclusions_total',
  'apiserver_authorization_webhook_duration_seconds',
  'apiserver_authorization_webhook_evaluations_fail_open_total',
  'apiserver_authorization_webhook_evaluations_total',
  'apiserver_flowcontrol_current_executing_requests',
  'apiserver_flowcontrol_current_executing_seats',
  'apiserver_flowcontrol_current_inqueue_requests',
  'apiserver_flowcontrol_current_inqueue_seats',
  'apiserver_flowcontrol_current_limit_seats',
  'apiserver_flowcontrol_current_r',
  'apiserver_flowcontrol_demand_seats',
  'apiserver_flowcontrol_demand_seats_average',
  'apiserver_flowcontrol_demand_seats_high_watermark',
  'apiserver_flowcontrol_demand_seats_smoothed',
  'apiserver_flowcontrol_demand_seats_stdev',
  'apiserver_flowcontrol_dispatch_r',
  'apiserver_flowcontrol_dispatched_requests_total',
  'apiserver_flowcontrol_latest_s',
  'apiserver_flowcontrol_lower_limit_seats',
  'apiserver_flowcontrol_nominal_limit_seats',
  'apiserver_flowcontrol_priority_level_request_utilization',
  'apiserver_flowcontrol_priority_level_seat_utilization',
  'apiserver_flowcontrol_read_vs_write_current_requests',
  'apiserver_flowcontrol_request_execution_seconds',
  'apiserver_flowcontrol_request_queue_length_after_enqueue',
  'apiserver_flowcontrol_request_wait_duration_seconds',
  'apiserver_flowcontrol_seat_fair_frac',
  'apiserver_flowcontrol_target_seats',
  'apiserver_flowcontrol_upper_limit_seats',
  'apiserver_flowcontrol_watch_count_samples',
  'apiserver_flowcontrol_work_estimated_seats',
  'authenticated_user_requests',
  'authentication_attempts',
  'authentication_duration_seconds',
  'authentication_token_cache_active_fetch_count',
  'authentication_token_cache_fetch_total',
  'authentication_token_cache_request_duration_seconds',
  'authentication_token_cache_request_total',
  'authorization_attempts_total',
  'authorization_duration_seconds',
];

test('all of them are there once there was something to count', async () => {
  const tokenFor = (sub: string): string => signToken(key, issuer.claims({ sub }));
  expect(await ask(tokenFor('carol'))).toBe(403);
  expect(await ask(tokenFor('carol'), '/version')).toBe(200);
  expect(await ask(tokenFor('bob'))).toBe(403);
  // A condition that has no value for the request, and a webhook that fails.
  await ask(tokenFor('alice'), '/healthz/x');
  await ask(tokenFor('failing'));
  expect(await ask('nobody-knows-this-one')).toBe(401);
  writeFileSync(pathOf('authentication.json'), authentication('new:'));
  await server.line(/Reloaded the authentication configuration/);
  writeFileSync(pathOf('authorization.json'), authorization('4s'));
  await server.line(/Reloaded the authorization configuration/);

  const admin = server.client('admin');
  const text = (await admin.expect(200, { path: '/metrics' })).text;
  const names = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name!));
  expect(NAMES.filter((name) => !names.has(name))).toEqual([]);
  // Issuers, servers and configurations are told by hashes alone.
  expect(text).not.toContain(issuer.url);
  expect(text).toMatch(/apiserver_authentication_config_controller_last_config_info\{apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:[0-9a-f]{64}"\} 1/);
  expect(text).toContain('apiserver_authorization_webhook_evaluations_fail_open_total{name="hook.example.com",result="error"} 1');
  expect(text).toMatch(/apiserver_authorization_decisions_total\{decision="allowed",name="rbac",type="RBAC"\} \d+/);
  admin.close();
});
