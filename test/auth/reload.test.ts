import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority } from '../../src/serving/certificates/create.ts';
import { ApiClient } from '../support/api-client.ts';
import { CommandProcess, type ServerProcess, startServer, temporaryFolder } from '../support/server.ts';
import { OidcIssuer, createSigningKey, signToken } from './oidc-issuer.ts';

/* Configuration that changes while the server runs, and configuration that keeps it from starting. */

const authority = createAuthority({ commonName: 'remote-ca' });
const key = createSigningKey('ES256');
const [first, second] = [new OidcIssuer(authority, key), new OidcIssuer(authority, key)];
const folder = temporaryFolder();
const path = join(folder, 'authentication.yaml');

const configurationOf = (issuers: readonly OidcIssuer[], more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    kind: 'AuthenticationConfiguration',
    jwt: issuers.map(({ url }) => ({
      issuer: { url, certificateAuthority: authority.certPem, audiences: ['binnacle'] },
      claimMappings: { username: { claim: 'sub', prefix: '' } },
    })),
    ...more,
  });

let server: ServerProcess;
beforeAll(async () => {
  await Promise.all([first.server.listen(), second.server.listen()]);
  writeFileSync(path, configurationOf([first]));
  server = await startServer({ flags: [`--authentication-config=${path}`] });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([first.server.close(), second.server.close()]);
});

const statusFor = async (issuer: OidcIssuer): Promise<number> => {
  const client = new ApiClient({ port: server.port, ca: server.ca, token: signToken(key, issuer.claims()) });
  const { status } = await client.send({ path: '/version' });
  client.close();
  return status;
};

test('issuers come and go with the file; a content that cannot be used changes nothing', async () => {
  expect([await statusFor(first), await statusFor(second)]).toEqual([200, 401]);
  writeFileSync(path, configurationOf([second], { unknown: true }));
  await server.line(/strict decoding error: unknown field/);
  writeFileSync(path, configurationOf([second], { anonymous: { enabled: false } }));
  await server.line(/anonymous: Forbidden: changed from initial configuration file/);
  expect([await statusFor(first), await statusFor(second)]).toEqual([200, 401]);
  writeFileSync(path, configurationOf([second]));
  await server.line(/Reloaded the authentication configuration/);
  expect([await statusFor(first), await statusFor(second)]).toEqual([401, 200]);
});

test.each([
  [
    ['--oidc-issuer-url=http://x', '--oidc-client-id=us'],
    'invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https',
  ],
  [['--oidc-issuer-url=https://x', '--oidc-client-id=us', '--oidc-signing-algs=HS256'], 'oidc: unsupported signing alg: "HS256"'],
  [[`--authentication-config=${path}`, '--oidc-client-id=us'], 'authentication-config file and oidc-* flags are mutually exclusive'],
  [['--authorization-mode=Webhook', `--authorization-webhook-config-file=${path}`], 'names no current-context'],
  [[`--authentication-token-webhook-config-file=${path}`, '--authentication-token-webhook-version=v2'], 'unsupported authentication webhook version "v2"'],
  [[`--authorization-config=${path}`], 'failed to load AuthorizationConfiguration from file: no kind "AuthenticationConfiguration" is registered'],
])('%j: the server does not start, and says why', async (flags, message) => {
  const command = new CommandProcess([
    'serve',
    '--storage-backend=memory',
    `--data-dir=${temporaryFolder()}`,
    '--secure-port=0',
    '--bind-address=127.0.0.1',
    ...flags,
  ]);
  expect(await command.exited).toMatchObject({ code: 1 });
  expect(command.lines.join('\n')).toContain(message);
});
