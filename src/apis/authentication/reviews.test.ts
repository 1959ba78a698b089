import { expect, test } from 'vitest';
import { type TokenReader, tokenReview } from './reviews.ts';

const review = async (status: object, readToken: TokenReader): Promise<object | undefined> => {
  const sent = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata: {}, spec: { token: 't' }, status };
  return ((await tokenReview(readToken)(sent, {} as never, '', false, new Date(0))) as typeof sent).status;
};
const known: TokenReader = () => Promise.resolve({ user: { name: 'alice', groups: ['devs'] } });
const unknown: TokenReader = () => Promise.reject(new Error('invalid bearer token'));

test('who has no name is told of none', async () => {
  const nameless: TokenReader = () => Promise.resolve({ user: { name: '', groups: ['devs'] } });
  expect(await review({}, nameless)).toEqual({ authenticated: true, user: { groups: ['devs'] } });
});

test('a token review leaves what was sent as its status where nothing is answered', async () => {
  const sent = { authenticated: true, user: { username: 'bob' }, audiences: ['a'], error: 'e' };
  expect(await review(sent, known)).toEqual({ authenticated: true, user: { username: 'alice', groups: ['devs'] }, error: 'e' });
  expect(await review(sent, unknown)).toEqual({ user: { username: 'bob' }, audiences: ['a'], error: 'invalid bearer token' });
  expect(await review({}, unknown)).toEqual({ user: {}, error: 'invalid bearer token' });
});
