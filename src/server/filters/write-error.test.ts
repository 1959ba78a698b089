import { expect, test } from 'vitest';
import { notFound } from '../../api/errors.ts';
import type { RequestAudit } from '../auditor.ts';
import { IncomingRequest } from '../server-request.ts';
import { FakeExchange } from '../testing/fake-exchange.ts';
import { errorWriter } from './write-error.ts';

test.each([
  ['application/json', [404, 0]],
  ['*/*', [404, 0]],
  ['image/png', []],
  // 0 stands for the answer itself.
])('of an error to who accepts %s the audit log is told %j', async (accept, told) => {
  const request = new IncomingRequest(new FakeExchange('/api/v1/pods/x', { headers: { accept } }));
  const codes: (number | undefined)[] = [];
  const audit: Partial<RequestAudit> = { keepsResponse: true, responseStatus: ({ code }) => codes.push(code), responseObject: () => void codes.push(0) };
  request.audit = audit as RequestAudit;
  await errorWriter()(request, notFound({ group: '', resource: 'pods' }, 'x'));
  expect(request.exchange.status).toBe(404);
  expect(codes).toEqual(told);
});
