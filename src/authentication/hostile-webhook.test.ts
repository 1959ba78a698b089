import { describe, expect, test } from 'vitest';
import type { WebhookClient } from '../client/webhook-client.ts';
import { Random } from '../util/test-random.ts';
import { tokenWebhook } from './token-webhook.ts';

/* What a webhook answers is a yes only where all of it is as it must be. How calls end that are slow, huge or redirected: src/client/webhook-client.test.ts. */

const API_VERSION = 'authentication.k8s.io/v1';
const RETRY = { initialDelayMs: 1, tries: 1, sleep: () => Promise.resolve() };

/** Whose the token is: undefined for nobody, an Error for a failure. */
async function askedWith(body: string | Buffer, apiAudiences: readonly string[] = []): Promise<unknown> {
  const client = { post: () => Promise.resolve(Buffer.from(body)) } as unknown as WebhookClient;
  const webhook = tokenWebhook({ client, version: 'v1', apiAudiences, cacheTtlMs: 0, retry: RETRY });
  try {
    return await webhook.authenticateToken('token', undefined);
  } catch (error) {
    return error;
  }
}
const review = (status: unknown, more: object = {}): string => JSON.stringify({ kind: 'TokenReview', apiVersion: API_VERSION, status, ...more });
const ALICE = { username: 'alice', uid: 'u', groups: ['g'], extra: { a: ['b'] } };

test('a good answer is a yes', async () => {
  expect(await askedWith(review({ authenticated: true, user: ALICE }))).toMatchObject({
    user: { name: 'alice', uid: 'u', groups: ['g'], extra: { a: ['b'] } },
  });
});

describe('is no yes:', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['null', 'null'],
    ['a list of good answers', `[${review({ authenticated: true, user: ALICE })}]`],
    ['two answers', review({ authenticated: true, user: ALICE }).repeat(2)],
    ['another kind', review({ authenticated: true, user: ALICE }, { kind: 'SubjectAccessReview' })],
    ['another version', review({ authenticated: true, user: ALICE }, { apiVersion: 'authentication.k8s.io/v1beta1' })],
    ['a kind that is an object', review({ authenticated: true, user: ALICE }, { kind: { a: 1 } })],
    ['a status in __proto__', `{"kind":"TokenReview","apiVersion":"${API_VERSION}","__proto__":{"status":{"authenticated":true,"user":{"username":"alice"}}}}`],
    ['authenticated in __proto__', review({}).replace('{}', '{"__proto__":{"authenticated":true},"user":{"username":"alice"}}')],
    ['a deep status', review(0).replace('0}', '{"a":'.repeat(5000))],
    ...(['true', 1, 'yes', {}, [], null] as const).map((value): [string, string] => [
      `authenticated that is ${JSON.stringify(value)}`,
      review({ authenticated: value, user: ALICE }),
    ]),
    ['a status that is a list', review([{ authenticated: true }])],
    ['a status that is true', review(true)],
    ['a user that is a text', review({ authenticated: true, user: 'alice' })],
    ['a name that is a number', review({ authenticated: true, user: { username: 1 } })],
    ['a group that is a number', review({ authenticated: true, user: { username: 'alice', groups: ['g', 1] } })],
    ['groups that are a text', review({ authenticated: true, user: { username: 'alice', groups: 'system:masters' } })],
    ['extra values that are no list', review({ authenticated: true, user: { username: 'alice', extra: { a: 'b' } } })],
    ['an error that is an object', review({ authenticated: true, user: ALICE, error: {} })],
  ])('%s', async (_, body) => {
    const outcome = await askedWith(body);
    expect(outcome === undefined || outcome instanceof Error).toBe(true);
  });

  test.each<[string, unknown]>([
    ['audiences of others', ['elsewhere']],
    ['audiences that are no texts', [1]],
    ['audiences that are a text', 'here'],
  ])('%s', async (_, audiences) => {
    const outcome = await askedWith(review({ authenticated: true, user: ALICE, audiences }), ['here']);
    expect(outcome === undefined || outcome instanceof Error).toBe(true);
  });
});

test('20,000 answers of which some bytes were changed are the user’s who is named in them, or nobody’s', async () => {
  const random = new Random(20_261_116);
  const good = Buffer.from(review({ authenticated: true, user: ALICE, audiences: ['here'] }));
  const no = Buffer.from(review({ authenticated: false, user: ALICE }));
  for (let round = 0; round < 20_000; round++) {
    const isNo = random.chance(0.5);
    const bytes = Buffer.from(isNo ? no : good);
    for (let count = 1 + random.below(3); count > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    const outcome = await askedWith(bytes, ['here']);
    if (outcome === undefined || outcome instanceof Error) continue;
    if (isNo) throw new Error(`round ${round}: a no became a yes: ${bytes.toString('latin1')}`);
    const { user } = outcome as { user: { name: unknown; groups: unknown } };
    if (typeof user.name !== 'string' || !Array.isArray(user.groups)) throw new Error(`round ${round}`);
  }
});
