import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestStatus } from '../../src/grpc/test-unary-server.ts';
import { TestSigner, makeSignerKey } from '../../src/kube/external-signer/test-signer.ts';
import { ApiClient, type TestObject } from '../support/api-client.ts';
import { CommandProcess, ServerProcess, startServer, temporaryFolder } from '../support/server.ts';

/* Service account tokens that an external signer signs (KEP-740): a real server, a real socket. */

interface Claims {
  exp: number;
  iat: number;
  'kubernetes.io': { warnafter?: number };
}

const folder = temporaryFolder();
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/robot';
const flags = (socket: string): string[] => [`--service-account-signing-endpoint=${socket}`];

let signers: TestSigner[] = [];
let sockets = 0;
async function startSigner(path = join(folder, `${++sockets}.sock`)): Promise<{ signer: TestSigner; socket: string }> {
  const signer = await new TestSigner().listen(path.replace(/^@/, '\0'));
  signers.push(signer);
  return { signer, socket: path };
}
afterAll(() => Promise.all(signers.map((signer) => signer.close())));

async function withAccount(server: ServerProcess): Promise<ApiClient> {
  const admin = server.client();
  const created = await admin.send({ method: 'POST', path: ACCOUNT.replace('/robot', ''), body: { metadata: { name: 'robot' } } });
  expect(created.status).toBe(201);
  return admin;
}

const requestToken = (client: ApiClient, spec: object = {}) => client.send({ method: 'POST', path: `${ACCOUNT}/token`, body: { spec } });
const tokenOf = (answer: { text: string }): string => (JSON.parse(answer.text) as { status: { token: string } }).status.token;
const claimsOf = (token: string): Claims => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims;
const whoIs = async (server: ServerProcess, token: string): Promise<number> =>
  (await new ApiClient({ port: server.port, ca: server.ca, token }).send({ method: 'GET', path: '/apis' })).status;

describe('a server with an external signer', () => {
  let server: ServerProcess;
  let admin: ApiClient;
  let signer: TestSigner;
  let socket: string;

  beforeAll(async () => {
    ({ signer, socket } = await startSigner());
    signer.keys.push({ id: 'retired', publicKey: makeSignerKey().publicKey, isUnlisted: true });
    signer.maxTokenExpirationSeconds = 7200;
    server = await startServer({ flags: flags(socket) });
    admin = await withAccount(server);
  });

  test('its tokens are ours', async () => {
    const answer = await requestToken(admin);
    expect(answer.status).toBe(201);
    expect(await whoIs(server, tokenOf(answer))).toBe(200);
    const review = await admin.send({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      body: { spec: { token: tokenOf(answer) } },
    });
    expect((JSON.parse(review.text) as TestObject).status).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:default:robot' },
    });
  });

  test('they last no longer than the signer allows', async () => {
    const answer = await requestToken(admin, { expirationSeconds: 10_000 });
    expect(answer.headers.warning).toContain('requested expiration of 10000 seconds shortened to 7200 seconds');
    const { exp, iat } = claimsOf(tokenOf(answer));
    expect(exp - iat).toBe(7200);
  });

  test("nor do pods' tokens, which are otherwise extended to a year", async () => {
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } };
    const created = await admin.send({ method: 'POST', path: '/api/v1/namespaces/default/pods', body: pod });
    expect(created.status).toBe(201);
    const answer = await requestToken(admin, { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } });
    const { exp, iat, 'kubernetes.io': own } = claimsOf(tokenOf(answer));
    expect(exp - iat).toBe(7200);
    expect(own.warnafter! - iat).toBe(3607);
  });

  test('the documents for those who verify elsewhere name its keys, but for the excluded ones', async () => {
    const keys = await admin.send({ method: 'GET', path: '/openid/v1/jwks' });
    expect(keys.headers['cache-control']).toMatch(/^public, max-age=35\d\d$/);
    expect(JSON.parse(keys.text)).toMatchObject({ keys: [{ use: 'sig', kty: 'EC', kid: 'key-1', alg: 'ES256', crv: 'P-256' }] });
    expect((JSON.parse(keys.text) as { keys: object[] }).keys).toHaveLength(1);
    const configuration = await admin.send({ method: 'GET', path: '/.well-known/openid-configuration' });
    expect(JSON.parse(configuration.text)).toMatchObject({ id_token_signing_alg_values_supported: ['ES256'] });
  });

  test('a new key is looked for when the first token of it comes, and is told from then on', async () => {
    const { privateKey, publicKey } = makeSignerKey();
    const { keyId, privateKey: before } = signer;
    Object.assign(signer, { keyId: 'key-2', privateKey, keys: [...signer.keys, { id: 'key-2', publicKey }] });
    const answer = await requestToken(admin);
    expect(await whoIs(server, tokenOf(answer))).toBe(200);
    const keys = await admin.send({ method: 'GET', path: '/openid/v1/jwks' });
    expect((JSON.parse(keys.text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid)).toEqual(['key-1', 'key-2']);
    Object.assign(signer, { keyId, privateKey: before });
  });

  test('a token of a key that is withdrawn ends with it', async () => {
    const { privateKey, publicKey } = makeSignerKey();
    const { keyId, privateKey: before, keys } = signer;
    Object.assign(signer, { keyId: 'brief', privateKey, keys: [...keys, { id: 'brief', publicKey }] });
    const token = tokenOf(await requestToken(admin));
    expect(await whoIs(server, token)).toBe(200);
    Object.assign(signer, { keyId, privateKey: before, keys });
    // Somebody shows a token of a key that nobody knows: the keys are fetched.
    const stranger = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'stranger' })).toString('base64url');
    expect(await whoIs(server, `${stranger}.${token.split('.')[1]}.AAAA`)).toBe(401);
    expect(await whoIs(server, token)).toBe(401);
  });

  test('what it says of a header is checked, and what it fails with is told', async () => {
    signer.header = { alg: 'none', kid: 'key-1', typ: 'JWT' };
    const bad = await requestToken(admin);
    expect([bad.status, (JSON.parse(bad.text) as { message: string }).message]).toEqual([
      500,
      'Internal error occurred: failed to generate token: while validating header: bad signing algorithm "none"',
    ]);
    signer.header = undefined;
    signer.failures.set('Sign', new TestStatus(8, 'too many'));
    const refused = await requestToken(admin);
    expect((JSON.parse(refused.text) as { message: string }).message).toBe(
      'Internal error occurred: failed to generate token: while signing jwt: rpc error: code = ResourceExhausted desc = too many',
    );
    signer.failures.clear();
  });

  test('while it is gone, its tokens are still taken, and new ones wait for it', async () => {
    const token = tokenOf(await requestToken(admin));
    await signer.close();
    expect(await whoIs(server, token)).toBe(200);
    const answer = requestToken(admin);
    await signer.listen(socket);
    expect((await answer).status).toBe(201);
  });

  test('it is counted', async () => {
    const { text } = await admin.send({ method: 'GET', path: '/metrics' });
    expect(text).toMatch(/^apiserver_externaljwt_sign_request_total\{code="OK"\} \d+$/m);
    expect(text).toMatch(/^apiserver_externaljwt_sign_request_total\{code="ResourceExhausted"\} 1$/m);
    expect(text).toMatch(/^apiserver_externaljwt_sign_request_total\{code="unknown-non-grpc"\} 1$/m);
    expect(text).toMatch(/^apiserver_externaljwt_fetch_keys_request_total\{code="OK"\} \d+$/m);
    expect(text).toMatch(/^apiserver_externaljwt_fetch_keys_data_timestamp 1\.7000000005e\+09$/m);
    expect(text).toMatch(/^apiserver_externaljwt_fetch_keys_success_timestamp 1\.\d+e\+09$/m);
    expect(text).toMatch(/^apiserver_externaljwt_request_duration_seconds_count\{code="OK",method="\/v1\.ExternalJWTSigner\/Metadata"\} 1$/m);
  });
});

test('keys are fetched when the hint says so; a signer with excluded keys alone has no documents', async () => {
  const { signer, socket } = await startSigner(`@binnacle-test-${process.pid}`);
  signer.refreshHintSeconds = 1;
  signer.keys[0]!.isUnlisted = true;
  const server = await startServer({ flags: flags(socket) });
  const admin = await withAccount(server);
  expect((await admin.send({ method: 'GET', path: '/openid/v1/jwks' })).status).toBe(404);
  const refused = await requestToken(admin);
  expect((JSON.parse(refused.text) as { message: string }).message).toContain('key used for signing JWT (kid: key-1) is excluded from OIDC discovery docs');
  signer.keys[0]!.isUnlisted = false;
  await signer.called('FetchKeys', signer.calls.FetchKeys + 2);
  expect((await requestToken(admin)).status).toBe(201);
});

test('a server waits for a signer that starts later than it', async () => {
  const socket = join(folder, 'late.sock');
  const server = new ServerProcess({ flags: flags(socket) });
  const { signer } = await startSigner(socket);
  await server.ready();
  expect(signer.calls).toMatchObject({ FetchKeys: 1, Metadata: 1 });
});

describe('a server does not start', () => {
  const failing = async (...more: string[]): Promise<string> => {
    const command = new CommandProcess(['serve', '--storage-backend=memory', `--data-dir=${temporaryFolder()}`, '--secure-port=0', ...more]);
    const { code } = await command.exited;
    expect(code).not.toBe(0);
    return command.lines.join('\n');
  };

  test('with a limit beyond the one of the signer', async () => {
    const { signer, socket } = await startSigner();
    signer.maxTokenExpirationSeconds = 3600;
    expect(await failing(...flags(socket), '--service-account-max-token-expiration=2h')).toContain(
      'service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: 2h0m0s > 1h0m0s',
    );
    signer.maxTokenExpirationSeconds = 60;
    expect(await failing(...flags(socket))).toContain('max token life supported by external-jwt-signer (60s) is less than acceptable (min 600s)');
  });

  test('with keys that cannot be used', async () => {
    const { signer, socket } = await startSigner();
    signer.keys = [];
    expect(await failing(...flags(socket))).toContain(
      'while setting up external-jwt-signer: while initially filling key cache: while performing initial cache fill: while fetching token verification keys: found no keys',
    );
  });

  test('with keys of files too', async () => {
    expect(await failing(...flags('/no/socket'), '--service-account-signing-key-file=/no/key')).toContain(
      'service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time',
    );
    expect(await failing(...flags('/no/socket'), '--service-account-key-file=/no/key')).toContain(
      "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)",
    );
    expect(await failing(...flags('@no/name'))).toContain(
      'invalid value "@no/name" passed for `--service-account-signing-endpoint`, when prefixed with @ must be a valid abstract socket name',
    );
  });
});
