import { generateKeyPairSync } from 'node:crypto';
import { keyId, signJwt } from '../src/authentication/jwt.ts';
import { FixedPublicKeys } from '../src/authentication/public-keys.ts';
import { claimsFor } from '../src/authentication/service-account-claims.ts';
import { ServiceAccountTokens } from '../src/authentication/service-account.ts';
import { registerAuthorizationMetrics } from '../src/authorization/metrics.ts';
import { createAuthorization } from '../src/authorization/modes.ts';
import type { BindingObject, RoleObject } from '../src/authorization/rbac-objects.ts';
import { FakeClient } from '../src/client/fake-client.ts';
import type { AuthorizationAttributes } from '../src/api/authorization.ts';
import { MetricRegistry } from '../src/metrics/registry.ts';

/* Who asks, and may they: what each costs a request, in CPU time, without a server around it. */

type Record = (what: string, value: number, unit: string, limit: number) => void;

const WARM_UP = 50_000;
const ROUNDS = 300_000;
const ROLES = 5_000;
const RBAC = 'rbac.authorization.k8s.io/v1';

export async function authCosts(record: Record): Promise<void> {
  record('authenticate a bound service account token seen before', await tokenMicroseconds(), 'µs', 5);
  const none = authorizationMicroseconds(0);
  const many = authorizationMicroseconds(ROLES);
  record(`authorize among ${ROLES} roles and bindings, more than among none`, Math.max(0, many - none), 'µs', 10);
}

async function tokenMicroseconds(): Promise<number> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const client = new FakeClient();
  const now = (): Date => new Date();
  const tokens = new ServiceAccountTokens({
    issuers: ['me'],
    publicKeys: new FixedPublicKeys(() => Promise.resolve([publicKey])),
    apiAudiences: ['api'],
    client,
    now,
  });
  const object = (kind: string, name: string) => ({ kind, apiVersion: 'v1', metadata: { name, namespace: 'ns', uid: `u-${name}` } });
  const account = await client.resource('', 'serviceaccounts').create('ns', object('ServiceAccount', 'robot'));
  const pod = await client.resource('', 'pods').create('ns', object('Pod', 'web'));
  const terms = { issuer: 'me', id: 'id', audiences: ['api'], now: now(), lifetimeSeconds: 3600, warnAfterSeconds: 0 };
  const token = await signJwt(privateKey, keyId(publicKey), claimsFor({ account, pod }, terms));
  if (!(await tokens.authenticateToken(token))) throw new Error('the token is not known');
  return microsecondsOf(() => void tokens.authenticateToken(token));
}

function authorizationMicroseconds(others: number): number {
  const metrics = registerAuthorizationMetrics(new MetricRegistry());
  const chain = (['Node', 'RBAC'] as const).map((type) => ({ type, name: type.toLowerCase(), fromFile: undefined }));
  const { authorizer, rbac } = createAuthorization({ chain, close() {} }, { client: new FakeClient(), isEnabled: () => false, metrics });
  const grant = (name: string, user: string): void => {
    const rules = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }];
    rbac.index.setRole('', name, { kind: 'ClusterRole', apiVersion: RBAC, metadata: { name }, rules } satisfies RoleObject);
    const subjects = [{ kind: 'User', name: user }];
    const roleRef = { kind: 'ClusterRole', name };
    rbac.index.setBinding('', name, { kind: 'ClusterRoleBinding', apiVersion: RBAC, metadata: { name }, subjects, roleRef } satisfies BindingObject);
  };
  grant('own', 'me');
  for (let i = 0; i < others; i++) grant(`role-${i}`, `user-${i}`);
  const attributes: AuthorizationAttributes = {
    user: { name: 'me', groups: ['a', 'b', 'system:authenticated'] },
    verb: 'get',
    isResourceRequest: true,
    apiGroup: '',
    apiVersion: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'ns',
    name: 'x',
    path: '/api/v1/namespaces/ns/pods/x',
  };
  return microsecondsOf(() => void authorizer.authorize(attributes));
}

function microsecondsOf(step: () => void): number {
  for (let i = 0; i < WARM_UP; i++) step();
  const started = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i++) step();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / ROUNDS;
}
