import { describe, expect, test } from 'vitest';
import { parseRequestInfo } from './request-info.ts';
import { LIMITS } from '../util/limits.ts';

/** method, target → verb, prefix, group, version, namespace, resource, subresource, name, parts (requestinfo_test.go, and more). */
const RESOURCES: [string, string, string, string, string, string, string, string, string, string, string[]][] = [
  ['GET', '/api/v1/namespaces', 'list', 'api', '', 'v1', '', 'namespaces', '', '', ['namespaces']],
  ['GET', '/api/v1/namespaces/other', 'get', 'api', '', 'v1', 'other', 'namespaces', '', 'other', ['namespaces', 'other']],
  ['GET', '/api/v1/namespaces/other/pods', 'list', 'api', '', 'v1', 'other', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/namespaces/other/pods/foo', 'get', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['HEAD', '/api/v1/namespaces/other/pods/foo', 'get', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['HEAD', '/api/v1/pods', 'list', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods/', 'list', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/proxy/namespaces/other/pods/foo/sub/path', 'proxy', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo', 'sub', 'path']],
  ['GET', '/api/v1/watch/pods', 'watch', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/watch/namespaces/other/pods/foo', 'watch', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['GET', '/api/v1/pods?watch=true', 'watch', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?watch=FALSE', 'list', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?watch=0', 'list', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?watch=nonsense', 'watch', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?watch', 'watch', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?w%61tch=1', 'watch', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/pods?watched=1', 'list', 'api', '', 'v1', '', 'pods', '', '', ['pods']],
  ['GET', '/api/v1/namespaces/other/pods/foo?watch=1', 'get', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['GET', '/api/v1/namespaces/other/pods/foo/status', 'get', 'api', '', 'v1', 'other', 'pods', 'status', 'foo', ['pods', 'foo', 'status']],
  ['GET', '/api/v1/namespaces/other/pods/foo/proxy/sub', 'get', 'api', '', 'v1', 'other', 'pods', 'proxy', 'foo', ['pods', 'foo', 'proxy', 'sub']],
  ['PUT', '/api/v1/namespaces/other/finalize', 'update', 'api', '', 'v1', 'other', 'namespaces', 'finalize', 'other', ['namespaces', 'other', 'finalize']],
  ['PUT', '/api/v1/namespaces/other/status', 'update', 'api', '', 'v1', 'other', 'namespaces', 'status', 'other', ['namespaces', 'other', 'status']],
  ['PATCH', '/api/v1/namespaces/other/pods/foo', 'patch', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['DELETE', '/api/v1/namespaces/other/pods/foo', 'delete', 'api', '', 'v1', 'other', 'pods', '', 'foo', ['pods', 'foo']],
  ['POST', '/api/v1/namespaces/other/pods', 'create', 'api', '', 'v1', 'other', 'pods', '', '', ['pods']],
  ['DELETE', '/api/v1/nodes', 'deletecollection', 'api', '', 'v1', '', 'nodes', '', '', ['nodes']],
  ['DELETE', '/apis/apps/v1/namespaces/other/deployments', 'deletecollection', 'apis', 'apps', 'v1', 'other', 'deployments', '', '', ['deployments']],
  ['OPTIONS', '/apis/apps/v1/deployments', '', 'apis', 'apps', 'v1', '', 'deployments', '', '', ['deployments']],
  ['GET', '/api/v1//pods', 'get', 'api', '', 'v1', '', '', '', 'pods', ['', 'pods']],
  ['GET', 'https://host:6443/api/v1/nodes/n', 'get', 'api', '', 'v1', '', 'nodes', '', 'n', ['nodes', 'n']],
];

test.each(RESOURCES)('%s %s is a %s', (method, target, verb, apiPrefix, apiGroup, apiVersion, namespace, resource, subresource, name, parts) => {
  expect(parseRequestInfo(method, target)).toMatchObject({
    isResourceRequest: true,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts,
  });
});

test.each(['/', '', '*', '/api', '/api/v1', '/api/v1/', '/apis/apps/v1/', '/bad/v1/pods', '/apis/apps/v1', '/healthz/ping/x'])(
  '%j is no resource',
  (target) => {
    expect(parseRequestInfo('OPTIONS', target)).toMatchObject({ isResourceRequest: false, verb: 'options', resource: '' });
  },
);

test('the path is kept as sent, without the query', () => {
  expect(parseRequestInfo('GET', '/a%20b?c').path).toBe('/a%20b');
});

describe('a list by name', () => {
  test.each([
    ['fieldSelector=metadata.name%3Dfoo', 'foo'],
    ['fieldSelector=metadata.name=foo,spec.nodeName=n', 'foo'],
    ['fieldSelector=metadata.name%21%3Dfoo', ''],
    ['fieldSelector=spec.nodeName%3Dn', ''],
    ['fieldSelector=metadata.name%3Da%2Fb', ''],
    ['fieldSelector=metadata.name%3D..', ''],
    ['fieldSelector=metadata.name%3Dfoo&limit=x', ''],
    ['fieldSelector=metadata.name%3Dfoo&labelSelector=%2C', ''],
    ['fieldSelector=%3D%3D%3D', ''],
  ])('%s names %j', (query, name) => expect(parseRequestInfo('GET', `/api/v1/pods?${query}`).name).toBe(name));

  test('watches too, and still as a watch', () => {
    expect(parseRequestInfo('GET', '/api/v1/pods?watch=1&fieldSelector=metadata.name%3Dfoo')).toMatchObject({ verb: 'watch', name: 'foo' });
  });
});

describe('escapes stay in their segment (CVE-2015-5305)', () => {
  test('names are decoded one by one', () => {
    expect(parseRequestInfo('GET', '/api/v1/nodes/a%20b')).toMatchObject({ resource: 'nodes', name: 'a b' });
    expect(parseRequestInfo('GET', '/api/v1/nodes/%2e%2e')).toMatchObject({ resource: 'nodes', name: '..' });
    expect(parseRequestInfo('GET', '/api/v1/nodes/n/proxy/a%2Fb').parts).toEqual(['nodes', 'n', 'proxy', 'a/b']);
  });
  test.each(['/api/v1/nodes/..%2Fsecrets', '/api/v1/namespaces/a%2Fb/pods/x'])('%s is refused', (target) => {
    expect(() => parseRequestInfo('GET', target)).toThrow("may not contain '/'");
  });
  test('a malformed escape is a bad request', () => {
    expect(() => parseRequestInfo('GET', '/api/v1/nodes/%zz')).toThrow(expect.objectContaining({ code: 400 }));
  });
});

test('a verb with nothing behind it fails as upstream does', () => {
  expect(() => parseRequestInfo('GET', '/api/v1/watch')).toThrow('unable to determine kind and namespace from url, /api/v1/watch');
});

test('names of Object.prototype are just names', () => {
  expect(parseRequestInfo('GET', '/api/v1/constructor/__proto__')).toMatchObject({ resource: 'constructor', name: '__proto__', verb: 'get' });
  expect(parseRequestInfo('__proto__', '/api/v1/pods').verb).toBe('');
});

test('a query has an end', () => {
  expect(parseRequestInfo('GET', `/api/v1/pods?${'a=b&'.repeat(9_999)}watch=true`).verb).toBe('watch');
  expect(() => parseRequestInfo('GET', `/api/v1/pods?${'a=b&'.repeat(10_000)}watch=true`)).toThrow('the query has more than 10000 parameters');
});

test('a URL has a limit, and is refused before it is looked at', () => {
  const problem = (() => {
    try {
      return parseRequestInfo('GET', `/${'%'.repeat(LIMITS.urlCharacters)}`);
    } catch (error) {
      return error;
    }
  })();
  expect(problem).toMatchObject({ code: 414, message: 'Request URI too long: limit is 262144 characters' });
});

test('a label selector beside a name is not read beyond its limit', () => {
  const list = (values: number): string =>
    parseRequestInfo('GET', `/api/v1/pods?fieldSelector=metadata.name=x&labelSelector=a+in+(${Array.from({ length: values }, (_, i) => `v${i}`).join(',')})`)
      .name;
  expect(list(LIMITS.selectorValues)).toBe('x');
  expect(list(LIMITS.selectorValues + 1)).toBe('');
});
