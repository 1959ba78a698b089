import { expect, test } from 'vitest';
import { goNetworkError } from './network-error.ts';

const failure = (code: string, more: object = {}): Error => Object.assign(new Error('what Node says'), { code, ...more });

test.each([
  [failure('ECONNREFUSED', { address: '::1', port: 443 }), 'dial tcp [::1]:443: connect: connection refused'],
  [new AggregateError([failure('ECONNREFUSED', { address: '127.0.0.1', port: 1 }), failure('X')]), 'dial tcp 127.0.0.1:1: connect: connection refused'],
  [failure('ENOTFOUND', { hostname: 'x.svc' }), 'dial tcp: lookup x.svc: no such host'],
  [failure('ECONNRESET'), 'EOF'],
  [failure('ECONNREFUSED', { address: '/run/x.sock' }), 'dial unix /run/x.sock: connect: connection refused'],
  [failure('ENOENT', { address: '/run/x.sock' }), 'dial unix /run/x.sock: connect: no such file or directory'],
  [
    failure('HPE_INVALID_CONSTANT', { rawPacket: Buffer.from('220 mail\r\nx') }),
    'net/http: HTTP/1.x transport connection broken: malformed HTTP response "220 mail"',
  ],
  [failure('HPE_INVALID_CONSTANT'), 'net/http: HTTP/1.x transport connection broken: malformed HTTP response'],
  [failure('ESOMETHING'), 'what Node says'],
])('%#', (error, words) => {
  expect(goNetworkError(error)).toBe(words);
});
