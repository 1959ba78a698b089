import { expect, test } from 'vitest';
import { parseRequestLine } from './explanation.ts';
import { parseChecks } from './health.ts';

test.each([
  ['GET /api/v1/pods?limit=1', { method: 'GET', path: '/api/v1/pods', query: 'limit=1' }],
  ['/api/v1/pods', { method: 'GET', path: '/api/v1/pods', query: '' }],
  ['https://127.0.0.1:6443/api/v1/pods', { method: 'GET', path: '/api/v1/pods', query: '' }],
  ['"Response" verb="POST" url="https://127.0.0.1:6443/api/v1/namespaces/shop/pods"', undefined],
  [
    'I1118 round_trippers.go:632] POST https://127.0.0.1:6443/api/v1/namespaces/shop/pods?fieldManager=x 403 Forbidden',
    { method: 'POST', path: '/api/v1/namespaces/shop/pods', query: 'fieldManager=x' },
  ],
  ['pods', undefined],
])('%s', (text, expected) => {
  expect(parseRequestLine(text)).toEqual(expected);
});

test('health checks are read by name', () => {
  expect(parseChecks('[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n')).toEqual([
    { name: 'ping', isOk: true, detail: '' },
    { name: 'etcd', isOk: false, detail: 'failed: reason withheld' },
  ]);
});
