import { expect, test } from 'vitest';
import { reviewStatus } from './review-answer.ts';

const asked = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' };
const statusIn = (answer: unknown): Promise<object> => reviewStatus(Buffer.from(JSON.stringify(answer)), asked);

test('an answer of the kind and version that was asked for, or that names neither, is read', async () => {
  const status = { authenticated: true };
  expect(await statusIn({ ...asked, status })).toEqual(status);
  expect(await statusIn({ status })).toEqual(status);
  expect(await statusIn({ kind: '', apiVersion: '', status })).toEqual(status);
  expect(await statusIn(asked)).toEqual({});
});

test.each([
  [{ ...asked, apiVersion: 'authentication.k8s.io/v9' }, 'no kind "TokenReview" is registered for version "authentication.k8s.io/v9"'],
  [{ ...asked, kind: 'Pod' }, 'no kind "Pod" is registered for version "authentication.k8s.io/v1"'],
  ['yes', 'the webhook answered with something that is no TokenReview'],
])('%j is no answer', async (answer, message) => {
  await expect(statusIn(answer)).rejects.toThrow(message);
});
