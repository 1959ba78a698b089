import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GrpcCode } from '../../grpc/status.ts';
import { TestStatus } from '../../grpc/test-unary-server.ts';
import { MetricRegistry } from '../../metrics/registry.ts';
import { FetchedKeys } from './fetched-keys.ts';
import { registerSignerMetrics } from './metrics.ts';
import { connectSigner } from './service.ts';
import { type ExternalSigner, openExternalSigner } from './signer.ts';
import { TestSigner, makeSignerKey } from './test-signer.ts';

/* Against a real gRPC server on a real socket. */

const folder = mkdtempSync(join(tmpdir(), 'binnacle-signer-'));
let files = 0;
let socket: string;
let signer: TestSigner;
let opened: { close(): void }[];
let reports: string[];
let registry: MetricRegistry;

beforeEach(async () => {
  socket = join(folder, `${++files}.sock`);
  signer = await new TestSigner().listen(socket);
  opened = [];
  reports = [];
  registry = new MetricRegistry();
});

afterEach(async () => {
  for (const part of opened) part.close();
  await signer.close();
  rmSync(socket, { force: true });
});

const observer = () => registerSignerMetrics(registry, () => Date.now());
const report = (error: Error): void => void reports.push(error.message);

async function open(signTimeoutMs = 5000): Promise<ExternalSigner> {
  const external = await openExternalSigner(socket, { observer: observer(), report, signTimeoutMs });
  opened.push(external);
  return external;
}

function fetchedKeys(options: { timeoutMs?: number; retryAfterMs?: number } = {}): FetchedKeys {
  const service = connectSigner(socket, observer());
  const keys = new FetchedKeys({ service, observer: observer(), report, ...options });
  opened.push(keys, service);
  return keys;
}

const metricLines = (name: string): string[] => registry.print().split('\n').filter((line) => line.startsWith(name)); // prettier-ignore

test('a token is put together of what the signer says', async () => {
  const external = await open();
  const token = await external.sign({ iss: 'me', sub: 'x' }, undefined);
  const [header, claims, signature] = token.split('.') as [string, string, string];
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'ES256', kid: 'key-1', typ: 'JWT' });
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({ iss: 'me', sub: 'x' });
  const { key } = external.publicKeys.current[0]!;
  expect(verify('sha256', Buffer.from(`${header}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(external.maxTokenExpirationSeconds).toBe(86_400);
  expect(metricLines('apiserver_externaljwt_sign_request_total')).toEqual(['apiserver_externaljwt_sign_request_total{code="OK"} 1']);
  expect(metricLines('apiserver_externaljwt_fetch_keys_data_timestamp')).toEqual(['apiserver_externaljwt_fetch_keys_data_timestamp 1.7000000005e+09']);
});

describe('what a signature comes with', () => {
  test.each([
    [{ alg: 'ES256', kid: 'key-1', typ: 'ABC' }, 'bad type'],
    [{ alg: 'ES256', typ: 'JWT' }, 'key id missing'],
    [{ alg: 'ES256', kid: 'k'.repeat(1025), typ: 'JWT' }, 'key id longer than 1 kb'],
    [{ alg: 'HS256', kid: 'key-1', typ: 'JWT' }, 'bad signing algorithm "HS256"'],
    [{ alg: 'ES256', kid: 'key-1', typ: 'JWT', jku: 'https://x' }, 'while parsing header JSON: json: unknown field "jku"'],
    [{ alg: 'ES256', kid: 7, typ: 'JWT' }, 'while parsing header JSON: json: cannot unmarshal number into Go struct field .kid of type string'],
    ['e30=', 'while unwrapping header: illegal base64 data at input byte 3'],
    ['a', 'while unwrapping header: illegal base64 data at input byte 0'],
    ['', 'while parsing header JSON: EOF'],
    [Buffer.from('null').toString('base64url'), 'bad type'],
    [Buffer.from('[]').toString('base64url'), 'while parsing header JSON: json: cannot unmarshal array into Go value of type struct'],
    [Buffer.from('{x').toString('base64url'), "while parsing header JSON: invalid character 'x' looking for beginning of object key string"],
  ])('%j is refused', async (header, message) => {
    const external = await open();
    signer.header = header;
    await expect(external.sign({}, undefined)).rejects.toThrow(`while validating header: ${message}`);
    expect(metricLines('apiserver_externaljwt_sign_request_total')).toEqual(['apiserver_externaljwt_sign_request_total{code="unknown-non-grpc"} 1']);
  });

  test('a signature must be there', async () => {
    const external = await open();
    signer.signature = '';
    await expect(external.sign({}, undefined)).rejects.toThrow('empty signature returned');
  });

  test('a key that only verifies signs nothing, also one that is not known yet', async () => {
    const external = await open();
    const { privateKey, publicKey } = makeSignerKey();
    Object.assign(signer, { keyId: 'old', privateKey, keys: [...signer.keys, { id: 'old', publicKey, isUnlisted: true }] });
    await expect(external.sign({}, undefined)).rejects.toThrow(
      'while validating header: key used for signing JWT (kid: old) is excluded from OIDC discovery docs',
    );
    expect(signer.calls.FetchKeys).toBe(2);
  });

  test('an answer that is no message', async () => {
    const external = await open();
    signer.answers.set('Sign', Buffer.from([0x0a, 0xff, 0x01]));
    await expect(external.sign({}, undefined)).rejects.toThrow(
      /^while signing jwt: rpc error: code = Internal desc = grpc: failed to unmarshal the received message/,
    );
  });

  test("the signer's own status is told", async () => {
    const external = await open();
    signer.failures.set('Sign', new TestStatus(7, 'not for you'));
    await expect(external.sign({}, undefined)).rejects.toThrow('while signing jwt: rpc error: code = PermissionDenied desc = not for you');
    expect(metricLines('apiserver_externaljwt_sign_request_total')).toEqual(['apiserver_externaljwt_sign_request_total{code="PermissionDenied"} 1']);
    expect(metricLines('apiserver_externaljwt_request_duration_seconds_count{code="Permission')).toEqual([
      'apiserver_externaljwt_request_duration_seconds_count{code="PermissionDenied",method="/v1.ExternalJWTSigner/Sign"} 1',
    ]);
  });
});

describe('a signer that is slow or gone', () => {
  test('a signature that does not come in time', async () => {
    const external = await open(50);
    signer.holds = new Promise(() => undefined);
    await expect(external.sign({}, undefined)).rejects.toThrow('while signing jwt: rpc error: code = DeadlineExceeded desc = context deadline exceeded');
  });

  test('whoever asked has gone', async () => {
    const external = await open();
    signer.holds = new Promise(() => undefined);
    const client = new AbortController();
    const signed = external.sign({}, client.signal);
    await signer.called('Sign', 1);
    client.abort();
    await expect(signed).rejects.toThrow('while signing jwt: rpc error: code = Canceled desc = context canceled');
  });

  test('signatures wait for one that is started again', async () => {
    const external = await open();
    await signer.close();
    const signed = external.sign({ sub: 'late' }, undefined);
    await signer.listen(socket);
    expect((await signed).split('.')).toHaveLength(3);
  });

  test('and fail where it does not come back', async () => {
    const external = await open(250);
    await signer.close();
    await expect(external.sign({}, undefined)).rejects.toThrow(
      /^while signing jwt: rpc error: code = (DeadlineExceeded desc = latest balancer error: connection error: desc = ".*|Unavailable desc = .*)/,
    );
  });
});

describe('at the start', () => {
  test('it waits for the socket', async () => {
    await signer.close();
    const external = open();
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    await signer.listen(socket);
    expect((await external).publicKeys.current).toHaveLength(1);
  });

  test('one that never comes', async () => {
    await signer.close();
    const message =
      /^while initially filling key cache: while performing initial cache fill: while fetching token verification keys: while getting externally supported jwt signing keys: rpc error: code = DeadlineExceeded desc = latest balancer error: connection error: desc = "/;
    await expect(fetchedKeys({ timeoutMs: 200 }).start()).rejects.toThrow(message);
    expect(metricLines('apiserver_externaljwt_fetch_keys_success_timestamp')).toEqual([]);
    expect(metricLines('apiserver_externaljwt_fetch_keys_request_total')).toEqual([
      'apiserver_externaljwt_fetch_keys_request_total{code="DeadlineExceeded"} 1',
    ]);
  });

  test('a signer of short lives, and one that tells no limit', async () => {
    signer.maxTokenExpirationSeconds = 599;
    await expect(open()).rejects.toThrow(/^max token life supported by external-jwt-signer \(599s\) is less than acceptable \(min 600s\)$/);
    signer.maxTokenExpirationSeconds = -1;
    await expect(open()).rejects.toThrow('(-1s)');
    signer.failures.set('Metadata', new TestStatus(GrpcCode.unimplemented, 'unknown method Metadata'));
    await expect(open()).rejects.toThrow('while setting up external-jwt-signer: rpc error: code = Unimplemented desc = unknown method Metadata');
  });

  const SIGNER_KEY = makeSignerKey().publicKey;
  test.each<[string, Partial<TestSigner>, string]>([
    ['no keys', { keys: [] }, 'found no keys'],
    ['keys without end', { keys: Array.from({ length: 257 }, (_, index) => ({ id: `k${index}`, publicKey: SIGNER_KEY })) }, 'found more than 256 keys'],
    ['no hint', { refreshHintSeconds: 0 }, 'found invalid refresh hint (0s)'],
    ['a hint in the past', { refreshHintSeconds: -5 }, 'found invalid refresh hint (-5s)'],
    ['no time', { timestamp: undefined }, 'invalid data timestamp: proto: invalid nil Timestamp'],
    ['a time beyond all', { timestamp: { seconds: 253_402_300_800, nanos: 0 } }, 'invalid data timestamp: proto: timestamp (seconds:253402300800 nanos:0) after 9999-12-31'], // prettier-ignore
    ['half a time', { timestamp: { seconds: 1, nanos: -1 } }, 'has out-of-range nanos'],
    ['a key without id', { keys: [{ id: '', publicKey: makeSignerKey().publicKey }] }, 'found invalid public key id ""'],
    ['a key with a long id', { keys: [{ id: 'ä'.repeat(513), publicKey: makeSignerKey().publicKey }] }, 'found invalid public key id "ä'],
    ['an empty key', { keys: [{ id: 'a', publicKey: Buffer.alloc(0) }] }, 'found empty public key'],
    ['what is no key', { keys: [{ id: 'a', publicKey: Buffer.from('no key') }] }, 'while parsing external public keys: '],
  ])('%s', async (_, fields, message) => {
    Object.assign(signer, fields);
    await expect(open()).rejects.toThrow(message);
  });
});

describe('keys', () => {
  test('are fetched again when the hint says so, and the old ones stay while that fails', async () => {
    signer.refreshHintSeconds = 1;
    const keys = fetchedKeys({ retryAfterMs: 10 });
    await keys.start();
    const { generation } = keys;
    signer.failures.set('FetchKeys', new TestStatus(13, 'out of order'));
    await signer.called('FetchKeys', 3);
    expect(keys.current).toHaveLength(1);
    expect(keys.generation).toBe(generation);
    expect(keys.maxAgeSeconds).toBe(0);
    expect(reports[0]).toBe(
      'while fetching token verification keys: while getting externally supported jwt signing keys: rpc error: code = Internal desc = out of order',
    );
    signer.keys.push({ id: 'key-2', publicKey: makeSignerKey().publicKey });
    signer.failures.clear();
    const { FetchKeys: sofar } = signer.calls;
    await signer.called('FetchKeys', sofar + 2);
    expect(keys.current.map(({ id }) => id)).toEqual(['key-1', 'key-2']);
    expect(keys.generation).toBe(generation + 1);
  });

  test('of an id that is not known are looked for once for all who ask', async () => {
    const keys = fetchedKeys();
    await keys.start();
    const { generation } = keys;
    const [first, second] = [keys.find('key-2'), keys.find('key-2')];
    expect(await Promise.all([first, second])).toEqual([[], []]);
    expect(signer.calls.FetchKeys).toBe(2);
    const { publicKey } = makeSignerKey();
    signer.keys.push({ id: 'key-2', publicKey });
    expect(await keys.find('key-2')).toHaveLength(1);
    expect(keys.find('key-2')).not.toBeInstanceOf(Promise);
    expect(keys.generation).toBe(generation + 1);
  });

  test('under the same id are told apart', async () => {
    const keys = fetchedKeys();
    await keys.start();
    const { generation } = keys;
    const { publicKey } = makeSignerKey();
    signer.keys = [{ id: 'key-1', publicKey }];
    await keys.find('other');
    expect(keys.generation).toBe(generation + 1);
    expect((await keys.find('key-1'))[0]!.key.equals(publicKey)).toBe(true);
  });

  test('of any kind that a certificate may have can be told', async () => {
    signer.keys.push({ id: 'odd', publicKey: generateKeyPairSync('ed25519').publicKey });
    const keys = fetchedKeys();
    await keys.start();
    expect(keys.current).toHaveLength(2);
  });
});
