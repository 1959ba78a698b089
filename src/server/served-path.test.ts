import { expect, test } from 'vitest';
import { parseRequestInfo } from './request-info.ts';
import { servesPath } from './served-path.ts';

const served = (path: string, isNamespaced: boolean): boolean => servesPath(isNamespaced, parseRequestInfo('GET', path));

test.each([
  '/api/v1/pods',
  '/api/v1/pods/',
  '/api/v1/namespaces/a/pods',
  '/api/v1/namespaces/a/pods/p',
  '/api/v1/namespaces/a/pods/p/',
  '/api/v1/namespaces/a/pods/p/log',
  '/api/v1/namespaces/a/pods/p/proxy/x/y',
  '/api/v1/watch/pods',
  '/api/v1/watch/namespaces/a/pods',
  '/api/v1/watch/namespaces/a/pods/p',
  '/apis/apps/v1/namespaces/a/deployments/d/scale',
])('a resource of namespaces has %s', (path) => {
  expect([served(path, true), served(path.replace('watch/', ''), true)]).toEqual([true, true]);
});

test.each([
  '/api/v1/nodes',
  '/api/v1/nodes/n',
  '/api/v1/nodes/n/status',
  '/api/v1/nodes/n/proxy/a/b',
  '/api/v1/watch/nodes/n',
  '/api/v1/namespaces',
  '/api/v1/namespaces/a',
  '/api/v1/namespaces/a/',
  '/api/v1/namespaces/a/status',
  '/api/v1/namespaces/a/finalize',
  '/api/v1/watch/namespaces',
  '/api/v1/watch/namespaces/a',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/c',
])('a resource of the cluster has %s', (path) => {
  expect(served(path, false)).toBe(true);
});

test.each([
  ['/api/v1/namespaces/a/nodes', false],
  ['/api/v1/namespaces/a/nodes/n', false],
  ['/api/v1/namespaces/a/namespaces', false],
  ['/api/v1/namespaces/a/namespaces/a', false],
  ['/apis/rbac.authorization.k8s.io/v1/namespaces/a/clusterroles', false],
  ['/api/v1/watch/namespaces/a/nodes', false],
  ['/api/v1/pods/p', true],
  ['/api/v1/pods/p/log', true],
  ['/api/v1/namespaces/a/pods/p/status/more', true],
  ['/api/v1/watch/namespaces/a/pods/p/exec', true],
  ['/api/v1/%77atch/namespaces/a/pods/p/exec', true],
  ['/api/v1/watch/nodes/n/proxy', false],
  ['/api/v1/proxy/namespaces/a/pods', true],
  ['/api/v1/proxy/namespaces/a/pods/p', true],
  ['/api/v1/proxy/nodes/n', false],
  ['//api/v1/pods', true],
])('nobody has %s', (path, isNamespaced) => {
  expect(served(path, isNamespaced)).toBe(false);
});
