import { describe, expect, test } from 'vitest';
import { serverPathUrl, serviceUrl, webhookUrl } from './webhook-url.ts';

/** The paths on the right follow from client-go's rest.Request.URL, path.Join and Go's url.URL.EscapedPath. */
describe('the path of a webhook', () => {
  test.each([
    ['', '/'],
    ['/', '/'],
    ['/v', '/v'],
    ['//v', '/v'],
    ['/a//b', '/a/b'],
    ['/v/', '/v'],
    ['/v//', '/v'],
    ['/a%2Fb', '/a/b'],
    ['/a%2F%2Fb%2F', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/../../b', '/b'],
    ['/a/%2e%2e/b', '/b'],
    ['/a%20b', '/a%20b'],
    ['/a%25b', '/a%25b'],
    ['/a%3Fb', '/a%3Fb'],
    ['/a%23b', '/a%23b'],
    ['/%7Ea!*()', '/~a%21%2A%28%29'],
    ['/a:b@c;d=e,f&g+h$i', '/a:b@c;d=e,f&g+h$i'],
    ['/ü', '/%C3%BC'],
    ['/%c3%bc', '/%C3%BC'],
    ['/%ff', '/%FF'],
    ['/a\\b', '/a%5Cb'],
    ['/v?timeout=1s', '/v'],
    ['/v#here', '/v'],
  ])('%s → %s', (path, expected) => {
    const url = webhookUrl(`https://127.0.0.1:8443${path}`);
    expect(url.href).toBe(`https://127.0.0.1:8443${expected}`);
  });

  test('of a service is text', () => {
    expect(serviceUrl('hook.web.svc:8443', '/v/').href).toBe('https://hook.web.svc:8443/v');
    expect(serviceUrl('hook.web.svc:8443', '/a%2Fb').href).toBe('https://hook.web.svc:8443/a%252Fb');
    expect(serviceUrl('hook.web.svc:8443', '').href).toBe('https://hook.web.svc:8443/');
  });

  test('of a kubeconfig stays as it was written where it is clean', () => {
    expect(serverPathUrl(new URL('https://h.example/a%2Fb')).href).toBe('https://h.example/a%2Fb');
    expect(serverPathUrl(new URL('https://h.example/a//b/?x=1')).href).toBe('https://h.example/a/b');
  });
});
