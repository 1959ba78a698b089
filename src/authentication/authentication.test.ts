import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerRequest } from '../endpoints/request.ts';
import { createAuthority, signCertificate } from '../serving/certificates/create.ts';
import { decodePem } from '../serving/certificates/pem.ts';
import type { ConnectionInfo } from '../serving/exchange.ts';
import { createAuthenticator } from './chain.ts';
import { parseCsv } from './csv.ts';
import { loadTokenFile } from './token-file.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-tokens-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const warnings: string[] = [];
function tokenFile(text: string): ReturnType<typeof loadTokenFile> {
  const path = join(folder, 'tokens.csv');
  writeFileSync(path, text);
  warnings.length = 0;
  return loadTokenFile(path, (message) => warnings.push(message));
}

function requestOf(headers: IncomingHttpHeaders, connection: Partial<ConnectionInfo> = {}, path = '/'): ServerRequest & { warned: string[] } {
  const warned: string[] = [];
  const exchange = { headers, connection: Object.assign(connection, { peerCertificates: connection.peerCertificates ?? [], requestClose() {} }) };
  return { exchange, info: { path }, warned, warn: (text: string) => warned.push(text) } as unknown as ServerRequest & { warned: string[] };
}

const someTokens = (): TokenAuthenticator => tokenFile('t1,alice,u1,devs\nmaster,root,u0,"system:masters,system:authenticated"\n');
const protocol = (...protocols: string[]): IncomingHttpHeaders => ({
  connection: 'keep-alive, Upgrade',
  upgrade: 'websocket',
  'sec-websocket-protocol': protocols.join(', '),
});
const chainOf = (pem: string): Buffer[] => decodePem('CERTIFICATE', pem);

describe('CSV', () => {
  it('reads quoted fields, doubled quotes, line breaks and skips empty lines', () => {
    expect(parseCsv('a,b,"c,d"\r\n\n"x ""y""\nz",,\n')).toEqual([
      ['a', 'b', 'c,d'],
      ['x "y"\nz', '', ''],
    ]);
    expect(parseCsv('')).toEqual([]);
  });

  it('refuses stray quotes, saying where', () => {
    expect(() => parseCsv('a\nb,c"d')).toThrow('parse error on line 2, column 4: bare " in non-quoted field');
    expect(() => parseCsv('"a\nb')).toThrow('record on line 1; parse error on line 2, column 2: extraneous or missing " in quoted-field');
    expect(() => parseCsv('"a"b')).toThrow('parse error on line 1, column 3: extraneous or missing " in quoted-field');
  });
});

describe('the token file', () => {
  it('gives users their uid and groups', () => {
    const tokens = tokenFile('t1,alice,u1,"devs,ops"\nt2,mallory,u2\n,nobody,u3\nt2,eve,u4\n');
    expect(tokens.authenticateToken('t1')).toEqual({ user: { name: 'alice', uid: 'u1', groups: ['devs', 'ops'] } });
    expect(tokens.authenticateToken('t2')).toMatchObject({ user: { name: 'eve' } });
    expect(tokens.authenticateToken('')).toBeUndefined();
    expect(tokens.authenticateToken('__proto__')).toBeUndefined();
    expect(warnings.map((w) => w.replace(/'[^']*csv'/, 'FILE'))).toEqual([
      "empty token has been found in token file FILE, record number '3'",
      "duplicate token has been found in token file FILE, record number '4'",
    ]);
  });

  it('is refused when a line is short', () => {
    expect(() => tokenFile('t1,alice\n')).toThrow(/^token file '.*' must have at least 3 columns \(token, user name, user uid\), found 2$/);
  });
});

const withTokens = (): ReturnType<typeof createAuthenticator> => createAuthenticator({ tokens: [someTokens()], anonymous: { paths: [] } });

describe('tokens of requests', () => {
  it('come as a bearer header', () => {
    const all = withTokens();
    const first = all.authenticate(requestOf({ authorization: 'bearer t1' }));
    expect(first).toEqual({ user: { name: 'alice', uid: 'u1', groups: ['devs', 'system:authenticated'] } });
    expect(all.authenticate(requestOf({ authorization: 'Bearer t1' }))).toBe(first);
    expect(all.authenticate(requestOf({ authorization: 'Bearer master' }))).toMatchObject({ user: { groups: ['system:masters', 'system:authenticated'] } });
  });

  it('make a request anonymous only when there is none', () => {
    const all = withTokens();
    const nobody = { user: { name: 'system:anonymous', groups: ['system:unauthenticated'] } };
    expect(all.authenticate(requestOf({}))).toEqual(nobody);
    expect(all.authenticate(requestOf({ authorization: 'Basic YTpi' }))).toEqual(nobody);
    expect(() => all.authenticate(requestOf({ authorization: 'Bearer nonsense' }))).toThrow('invalid bearer token');
    const spaced = requestOf({ authorization: 'Bearer  t1' });
    expect(all.authenticate(spaced)).toEqual(nobody);
    expect(spaced.warned).toEqual(['the provided Authorization header contains extra space before the bearer token, and is ignored']);
  });

  it('are needed where anonymous requests are off, or limited to paths', () => {
    expect(createAuthenticator({ tokens: [someTokens()] }).authenticate(requestOf({}))).toBeUndefined();
    const limited = createAuthenticator({ tokens: [someTokens()], anonymous: { paths: ['/healthz'] } });
    expect(limited.authenticate(requestOf({}, {}, '/healthz'))).toBeDefined();
    expect(limited.authenticate(requestOf({}, {}, '/api'))).toBeUndefined();
  });

  it('may come as a WebSocket subprotocol, and are taken out of it', () => {
    const all = withTokens();
    const encoded = `base64url.bearer.authorization.k8s.io.${Buffer.from('t1').toString('base64url')}`;
    const request = requestOf(protocol('v4.channel.k8s.io', encoded));
    expect(all.authenticate(request)).toMatchObject({ user: { name: 'alice' } });
    expect(request.exchange.headers['sec-websocket-protocol']).toBe('v4.channel.k8s.io');
    expect(() => all.authenticate(requestOf(protocol(encoded)))).toThrow('missing additional subprotocol');
    expect(() => all.authenticate(requestOf(protocol('x', encoded, encoded)))).toThrow('multiple base64.bearer.authorization tokens specified');
    expect(() => all.authenticate(requestOf(protocol('x', 'base64url.bearer.authorization.k8s.io.a=')))).toThrow(
      'invalid base64.bearer.authorization token encoding',
    );
    expect(() => all.authenticate(requestOf(protocol('x', 'base64url.bearer.authorization.k8s.io._w')))).toThrow('invalid base64.bearer.authorization token');
  });

  it('may take their time, and errors of all are told together', async () => {
    const late: TokenAuthenticator = {
      authenticateToken: async (token) => {
        if (token === 'slow') return { user: { name: 'slow', groups: [] } };
        throw new Error('too late');
      },
    };
    const bad: TokenAuthenticator = {
      authenticateToken: () => {
        throw new Error('no');
      },
    };
    const all = createAuthenticator({ tokens: [bad, late, someTokens()], anonymous: { paths: [] } });
    expect(await all.authenticate(requestOf({ authorization: 'Bearer slow' }))).toEqual({ user: { name: 'slow', groups: ['system:authenticated'] } });
    expect(await all.authenticate(requestOf({ authorization: 'Bearer t1' }))).toMatchObject({ user: { name: 'alice' } });
    await expect(all.authenticate(requestOf({ authorization: 'Bearer x' }))).rejects.toThrow('[no, too late]');
  });
});

describe('client certificates', () => {
  const authority = createAuthority({ commonName: 'ca' });
  const nowMs = Date.now();
  const client = signCertificate(authority, {
    commonName: 'kate',
    organizations: ['dev', 'ops'],
    uid: 'u-7',
    usages: ['client'],
    notBefore: new Date(nowMs - 1000),
    notAfter: new Date(nowMs + 60_000),
  });

  it('name user, groups, uid and credential, once a connection', () => {
    const authenticator = createAuthenticator({ tokens: [], clientCertificates: { authorities: () => authorities, nowMs: () => nowMs } });
    const authorities = [authority.certPem];
    const connection = { peerCertificates: chainOf(client.certPem) };
    const found = authenticator.authenticate(requestOf({}, connection));
    expect(found).toEqual({
      user: {
        name: 'kate',
        uid: 'u-7',
        groups: ['dev', 'ops', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
      },
    });
    expect(authenticator.authenticate(requestOf({}, connection))).toBe(found);
  });

  it('stop being good when they expire or the authorities change, on open connections too', () => {
    let now = nowMs;
    let authorities = [authority.certPem];
    const authenticator = createAuthenticator({ tokens: [], clientCertificates: { authorities: () => authorities, nowMs: () => now } });
    const connection = { peerCertificates: chainOf(client.certPem) };
    expect(authenticator.authenticate(requestOf({}, connection))).toBeDefined();
    now = nowMs + 120_000;
    expect(() => authenticator.authenticate(requestOf({}, connection))).toThrow(/^verifying certificate SN=\d+, SKID=.* failed: x509: certificate has expired/);
    now = nowMs;
    authorities = [createAuthority({ commonName: 'other' }).certPem];
    expect(() => authenticator.authenticate(requestOf({}, connection))).toThrow('signed by unknown authority');
  });

  it('give way to a good token when they are bad', () => {
    const authorities = [createAuthority({ commonName: 'other' }).certPem];
    const tokens = tokenFile('t1,alice,u1\n');
    const authenticator = createAuthenticator({ tokens: [tokens], clientCertificates: { authorities: () => authorities }, anonymous: { paths: [] } });
    const connection = { peerCertificates: chainOf(client.certPem) };
    expect(authenticator.authenticate(requestOf({ authorization: 'Bearer t1' }, connection))).toMatchObject({ user: { name: 'alice' } });
    expect(() => authenticator.authenticate(requestOf({}, connection))).toThrow('verifying certificate');
  });
});
