import { expect, test } from 'vitest';
import type { TokenRequest } from '../../apis/facts/types/authentication-v1.ts';
import { TestServer } from './test-server.ts';

const ISSUER = 'https://kubernetes.default.svc';
const server = await TestServer.start(['--service-account-max-token-expiration=2h']);

interface Refusal {
  code: number;
  reason: string;
  message: string;
  details: object;
}

const claimsOf = (token: string): Record<string, unknown> & { exp: number; iat: number } =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

const review = async (spec: object) => (await server.send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec })).json<{ status: object }>().status;

async function account(): Promise<{ namespace: string; name: string; uid: string; ask: (body: object, account?: string) => Promise<TokenRequest & Refusal> }> {
  const namespace = await server.namespace();
  await server.create(`${namespace}/serviceaccounts`, { metadata: { name: 'robot' } });
  const { metadata } = await server.get<{ metadata: { uid: string } }>(`${namespace}/serviceaccounts/robot`);
  const ask = async (body: object, name = 'robot') =>
    (await server.send('POST', `${namespace}/serviceaccounts/${name}/token`, body)).json<TokenRequest & Refusal>();
  return { namespace, name: namespace.split('/').at(-1)!, uid: metadata.uid, ask };
}

test('a token says who its bearer is, and logs in as that', async () => {
  const { namespace, name, uid, ask } = await account();
  const answer = await ask({ spec: {} });
  expect(answer).toMatchObject({
    kind: 'TokenRequest',
    metadata: { name: 'robot', namespace: name, uid },
    spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
  });
  const claims = claimsOf(answer.status.token);
  expect(claims).toEqual({
    aud: [ISSUER],
    exp: claims.iat + 3600,
    iat: expect.any(Number),
    iss: ISSUER,
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    'kubernetes.io': { namespace: name, serviceaccount: { name: 'robot', uid } },
    nbf: claims.iat,
    sub: `system:serviceaccount:${name}:robot`,
  });
  expect(Date.parse(answer.status.expirationTimestamp!)).toBe(claims.exp * 1000);

  const me = await server.sendAs(answer.status.token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect(me.json()).toMatchObject({
    status: {
      userInfo: {
        username: `system:serviceaccount:${name}:robot`,
        uid,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${name}`, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti as string}`] },
      },
    },
  });
  expect((await server.sendAs(answer.status.token, 'GET', `${namespace}/pods`)).json()).toMatchObject({ code: 403 });
  const forged = `${answer.status.token.slice(0, -4)}AAAA`;
  expect((await server.sendAs(forged, 'GET', `${namespace}/pods`)).status).toBe(401);
  await server.send('DELETE', `${namespace}/serviceaccounts/robot`);
  expect((await server.sendAs(answer.status.token, 'GET', `${namespace}/pods`)).status).toBe(401);
});

test('TokenReview tells whose a token is, for the audiences that it is meant for', async () => {
  const { name, ask } = await account();
  const { token } = (await ask({ spec: { audiences: ['vault', ISSUER] } })).status;
  expect(await review({ token })).toMatchObject({ authenticated: true, user: { username: `system:serviceaccount:${name}:robot` }, audiences: [ISSUER] });
  expect(await review({ token, audiences: ['vault', 'other'] })).toMatchObject({ authenticated: true, audiences: ['vault'] });
  expect(await review({ token, audiences: ['other'] })).toEqual({
    user: {},
    error: `[invalid bearer token, token audiences ["vault" "${ISSUER}"] is invalid for the target audiences ["other"]]`,
  });
  expect(await review({ token: 'nonsense' })).toEqual({ user: {}, error: 'invalid bearer token' });
});

test('a token of another audience is no way into this API', async () => {
  const { namespace, ask } = await account();
  const { token } = (await ask({ spec: { audiences: ['vault'] } })).status;
  expect((await server.sendAs(token, 'GET', `${namespace}/pods`)).status).toBe(401);
});

test('a token that is bound to a pod ends with it, and tells of its node', async () => {
  const { namespace, ask } = await account();
  await server.pod(namespace, 'p', { serviceAccountName: 'robot', nodeName: 'n1' });
  const { uid } = (await server.get<{ metadata: { uid: string } }>(`${namespace}/pods/p`)).metadata;
  const bound = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
  const { status } = await ask({ spec: { boundObjectRef: { ...bound, uid } } });
  expect(claimsOf(status.token)['kubernetes.io']).toMatchObject({ pod: { name: 'p', uid }, node: { name: 'n1' } });
  const me = await server.sendAs(status.token, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  expect(me.json()).toMatchObject({
    status: {
      userInfo: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': [uid],
          'authentication.kubernetes.io/node-name': ['n1'],
        },
      },
    },
  });

  const long = await ask({ spec: { expirationSeconds: 3607, boundObjectRef: bound } });
  const claims = claimsOf(long.status.token);
  expect([claims.exp - claims.iat, claims['kubernetes.io']]).toEqual([365 * 24 * 3600, expect.objectContaining({ warnafter: claims.iat + 3607 })]);
  expect(Date.parse(long.status.expirationTimestamp!)).toBe((claims.iat + 3607) * 1000);

  await server.send('DELETE', `${namespace}/pods/p?gracePeriodSeconds=0`);
  expect((await server.sendAs(status.token, 'GET', `${namespace}/pods`)).status).toBe(401);
});

test('what cannot be had is refused', async () => {
  const { namespace, ask } = await account();
  await server.pod(namespace, 'p');
  const pod = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
  expect(await ask({ spec: { expirationSeconds: 5 } })).toMatchObject({
    code: 422,
    message: 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
  });
  expect(await ask({ metadata: { name: 'other' }, spec: {} })).toMatchObject({
    code: 422,
    message: 'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
  });
  expect(await ask({ metadata: { uid: 'x' }, spec: {} })).toMatchObject({
    code: 409,
    details: { name: 'robot', group: 'authentication.k8s.io', kind: 'TokenRequest' },
  });
  expect(await ask({ spec: {} }, 'missing')).toMatchObject({ code: 404, message: 'serviceaccounts "missing" not found' });
  expect(await ask({ spec: { boundObjectRef: { ...pod, name: 'none' } } })).toMatchObject({ code: 404, message: 'pods "none" not found' });
  expect(await ask({ spec: { boundObjectRef: pod } })).toMatchObject({
    code: 400,
    message: 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
  });
  expect(await ask({ spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'p' } } })).toMatchObject({
    code: 400,
    message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
  });
  await server.create(`${namespace}/secrets`, { metadata: { name: 's' } });
  expect(await ask({ spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'x' } } })).toMatchObject({
    code: 409,
    message:
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
  });
});

test('--service-account-max-token-expiration shortens, with a warning', async () => {
  const { namespace } = await account();
  const answer = await server.send('POST', `${namespace}/serviceaccounts/robot/token`, { spec: { expirationSeconds: 86_400 } });
  expect(answer.headers.warning).toBe('299 - "requested expiration of 86400 seconds shortened to 7200 seconds"');
  expect(answer.json<TokenRequest>().spec.expirationSeconds).toBe(7200);
});
