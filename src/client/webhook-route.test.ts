import { expect, test } from 'vitest';
import { dialDirectly, dialUnix } from '../net/dial.ts';
import { routeToWebhook } from './webhook-route.ts';

const dialService = dialDirectly;
const dialUrl = (_host: string, _port: number, signal: AbortSignal) => dialUnix('/run/proxy.sock', signal);
const routes = { addressOf: (namespace: string, name: string, port: number) => ({ host: `${name}.at.${namespace}`, port }), dialService, dialUrl };

test('a service is called by its own name, at its address, by the way into the cluster', () => {
  const service = { namespace: 'web', name: 'hook', path: '/re view?x' };
  const { endpoint, dial, host } = routeToWebhook({ service, caBundle: Buffer.from('PEM').toString('base64') }, routes);
  expect(String(endpoint.url)).toBe('https://hook.web.svc/re%20view%3Fx');
  expect([endpoint.serverName, endpoint.caPem, endpoint.address!(), host]).toEqual([
    'hook.web.svc',
    'PEM',
    { host: 'hook.at.web', port: 443 },
    'hook.web.svc:443',
  ]);
  expect(dial).toBe(dialService);
});

test('a URL is called as it is, by the way into the control plane', () => {
  const { endpoint, dial, host } = routeToWebhook({ url: 'https://hook.example.com/review' }, routes);
  expect([String(endpoint.url), endpoint.address, host]).toEqual(['https://hook.example.com/review', undefined, 'hook.example.com:443']);
  expect(dial).toBe(dialUrl);
});
