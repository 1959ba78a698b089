import { describe, expect, test } from 'vitest';
import { formatPath, parsePath } from './resource-path.ts';

describe('a path of the API', () => {
  test.each([
    ['/api/v1/pods', { group: '', version: 'v1', plural: 'pods' }],
    ['/api/v1/namespaces/shop/pods', { group: '', version: 'v1', plural: 'pods', namespace: 'shop' }],
    ['/api/v1/namespaces/shop/pods/web', { group: '', version: 'v1', plural: 'pods', namespace: 'shop', name: 'web' }],
    ['/api/v1/namespaces', { group: '', version: 'v1', plural: 'namespaces' }],
    ['/api/v1/namespaces/shop', { group: '', version: 'v1', plural: 'namespaces', name: 'shop' }],
    ['/apis/apps/v1/deployments', { group: 'apps', version: 'v1', plural: 'deployments' }],
    [
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
      { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', name: 'system:node' },
    ],
  ])('%s is read and written', (path, parsed) => {
    expect(parsePath(path)).toEqual(parsed);
    expect(formatPath(parsed)).toBe(path);
  });

  test.each(['/', '/server', '/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/api/v1/a/b/c/d/e'])('%s names no resource', (path) => {
    expect(parsePath(path)).toBeUndefined();
  });
});
