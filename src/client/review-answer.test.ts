import { expect, test } from 'vitest';
import { reviewStatus } from './review-answer.ts';

const asked = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' };
const statusIn = (answer: unknown): object => reviewStatus(Buffer.from(JSON.stringify(answer)), asked);

test('an answer of the kind and version that was asked for, or that names neither, is read', () => {
  const status = { authenticated: true };
  expect(statusIn({ ...asked, status })).toEqual(status);
  expect(statusIn({ status })).toEqual(status);
  expect(statusIn({ kind: '', apiVersion: '', status })).toEqual(status);
  expect(statusIn(asked)).toEqual({});
});

test.each([
  [{ ...asked, apiVersion: 'authentication.k8s.io/v9' }, 'no kind "TokenReview" is registered for version "authentication.k8s.io/v9"'],
  [{ ...asked, kind: 'Pod' }, 'no kind "Pod" is registered for version "authentication.k8s.io/v1"'],
  ['yes', 'the webhook answered with something that is no TokenReview'],
])('%j is no answer', (answer, message) => {
  expect(() => statusIn(answer)).toThrow(message);
});
