import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { WebhookClient } from '../client/webhook-client.ts';
import type { AuthorizationAttributes } from '../api/authorization.ts';
import { Random } from '../util/test-random.ts';
import { loadAbacFile } from './abac.ts';
import { authorizationWebhook } from './webhook.ts';

/* Answers of a webhook and lines of a policy file that are not what they must be: never a yes, and for a file, no start. */

const attributes = (more: Partial<AuthorizationAttributes> = {}): AuthorizationAttributes => ({
  user: { name: 'alice', groups: ['g'] },
  verb: 'get',
  isResourceRequest: true,
  namespace: 'ns',
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'secrets',
  subresource: '',
  name: 's',
  path: '/api/v1/namespaces/ns/secrets/s',
  ...more,
});

describe('the webhook', () => {
  const API_VERSION = 'authorization.k8s.io/v1';
  const decide = async (body: string | Buffer, onFailure: 'noOpinion' | 'deny' = 'noOpinion'): Promise<string> => {
    const client = { post: () => Promise.resolve(Buffer.from(body)) } as unknown as WebhookClient;
    const retry = { initialDelayMs: 1, tries: 1, sleep: () => Promise.resolve() };
    const webhook = authorizationWebhook({ client, version: 'v1', authorizedTtlMs: 0, unauthorizedTtlMs: 0, onFailure, conditions: [], retry });
    return (await webhook.authorize(attributes())).decision;
  };
  const review = (status: unknown, more: object = {}): string => JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: API_VERSION, status, ...more });

  test('a good answer is a yes', async () => expect(await decide(review({ allowed: true }))).toBe('allow'));

  test.each<[string, string]>([
    ['nothing', ''],
    ['no JSON', 'allowed: true'],
    ['a list', `[${review({ allowed: true })}]`],
    ['two answers', review({ allowed: true }).repeat(2)],
    ['another kind', review({ allowed: true }, { kind: 'TokenReview' })],
    ['another version', review({ allowed: true }, { apiVersion: 'authorization.k8s.io/v2' })],
    ['a status in __proto__', `{"__proto__":{"status":{"allowed":true}}}`],
    ['allowed in __proto__', `{"status":{"__proto__":{"allowed":true}}}`],
    ...(['true', 1, {}, [], null] as const).map((value): [string, string] => [`allowed that is ${JSON.stringify(value)}`, review({ allowed: value })]),
    ['a no that is no word of yes or no', review({ allowed: true, denied: 'true' })],
    ['a no that is 1', review({ allowed: true, denied: 1 })],
    ['both', review({ allowed: true, denied: true })],
    ['a reason that is an object', review({ allowed: true, reason: {} })],
    ['a status that is true', review(true)],
  ])('%s is no yes, and a deny where failures are', async (_, body) => {
    expect(await decide(body)).not.toBe('allow');
    expect(await decide(body, 'deny')).not.toBe('allow');
  });

  test('20,000 answers of no of which some bytes were changed stay no', async () => {
    const random = new Random(4);
    const no = Buffer.from(review({ allowed: false, denied: true, reason: 'not allowed: true' }));
    for (let round = 0; round < 20_000; round++) {
      const bytes = Buffer.from(no);
      for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
      if ((await decide(bytes)) === 'allow') throw new Error(`round ${round}: ${bytes.toString('latin1')}`);
    }
  });
});

describe('the policy file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-abac-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const load = (text: string | Buffer): ReturnType<typeof loadAbacFile> => {
    const path = join(folder, 'policy.jsonl');
    writeFileSync(path, text);
    return loadAbacFile(path, () => {});
  };
  const policy = (spec: unknown, more: object = {}): string =>
    JSON.stringify({ kind: 'Policy', apiVersion: 'abac.authorization.kubernetes.io/v1beta1', spec, ...more });

  test.each<[string, string]>([
    ['no JSON', 'user: alice'],
    ['half a line', policy({ user: 'alice' }).slice(0, 40)],
    ['a list', '[]'],
    ['null', 'null'],
    ['another kind', policy({}, { kind: 'Role' })],
    ['a kind that is an object', policy({}, { kind: {} })],
    ['another version', policy({}, { apiVersion: 'abac.authorization.kubernetes.io/v2' })],
    ['a spec that is a list', policy([])],
    ['a user that is a list', policy({ user: ['alice'] })],
    ['a readonly that is a text', policy({ user: 'alice', readonly: 'true' })],
    ['a deep line', `{"spec":${'['.repeat(100_000)}`],
    ['two policies in a line', policy({ user: 'alice' }).repeat(2)],
  ])('%s is no start', (_, line) => {
    expect(() => load(`${policy({ user: 'bob' })}\n${line}\n`)).toThrow('line 2');
  });

  test('what a policy leaves out matches nothing, and what hides in __proto__ is not there', async () => {
    for (const line of [policy({}), policy({ user: 'alice' }), policy({ user: '', group: '', resource: '*', namespace: '*', apiGroup: '*' })]) {
      expect((await load(line).authorize(attributes())).decision).toBe('noOpinion');
    }
    const hidden = `{"kind":"Policy","apiVersion":"abac.authorization.kubernetes.io/v1beta1","spec":{"__proto__":{"user":"alice","resource":"*","namespace":"*","apiGroup":"*"}}}`;
    expect((await load(hidden).authorize(attributes())).decision).toBe('noOpinion');
  });

  test('20,000 policies of others decide in a moment, and so does a path of stars', async () => {
    const others = Array.from({ length: 20_000 }, (_, index) => policy({ user: `user-${index}`, resource: '*', namespace: '*', apiGroup: '*' }));
    const stars = policy({ user: 'alice', nonResourcePath: `${'*'.repeat(100_000)}a*` });
    const authorizer = load([...others, stars].join('\n'));
    const startMs = performance.now();
    for (let count = 0; count < 20; count++) {
      expect((await authorizer.authorize(attributes())).decision).toBe('noOpinion');
      expect((await authorizer.authorize(attributes({ isResourceRequest: false, path: '/metrics' }))).decision).toBe('noOpinion');
    }
    expect(performance.now() - startMs).toBeLessThan(2000);
  });

  test('2,000 files with bytes changed are refused, or give nobody more than was written', () => {
    const random = new Random(1);
    const good = Buffer.from(policy({ user: 'bob', resource: 'pods', namespace: 'ns', readonly: true }));
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(good);
      for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
      try {
        const decision = load(bytes).authorize(attributes()) as { decision: string };
        if (decision.decision !== 'noOpinion') throw new TypeError(`round ${round}: ${bytes.toString('latin1')}`);
      } catch (error) {
        if (error instanceof TypeError) throw error;
      }
    }
  });
});
