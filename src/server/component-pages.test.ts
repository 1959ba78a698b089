import { expect, test } from 'vitest';
import { flagzHandler, statuszHandler } from './component-pages.ts';
import { IncomingRequest } from './server-request.ts';
import { FakeExchange } from './testing/fake-exchange.ts';

const statusz = statuszHandler(
  { startMs: Date.UTC(2026, 0, 2, 3, 4, 5), binaryVersion: '1.36.4', emulationVersion: '1.36', paths: ['/flagz', '/statusz'] },
  () => Date.UTC(2026, 0, 2, 4, 5, 7),
);
const flagz = flagzHandler(() => ({ 'secure-port': '6443', v: '0' }));

function ask(handler: typeof statusz, accept?: string): { exchange: FakeExchange; request: IncomingRequest; answered: void | Promise<void> } {
  const exchange = new FakeExchange('/', accept === undefined ? {} : { headers: { accept } });
  const request = new IncomingRequest(exchange);
  return { exchange, request, answered: handler(request) };
}

test.each([undefined, '*/*', 'text/plain', 'application/json, text/*'])('text for people who accept %s', (accept) => {
  const { exchange } = ask(statusz, accept);
  expect(exchange.responseHeaders['content-type']).toBe('text/plain; charset=utf-8');
  expect(exchange.body).toContain('\napiserver statusz\nWarning: ');
  expect(exchange.body).toContain('\nStarted: Fri Jan  2 03:04:05 UTC 2026\nUp: 1 hr 01 min 02 sec\n');
  expect(exchange.body).toContain('\nBinary version: 1.36.4\nEmulation version: 1.36\nPaths: /flagz /statusz\n');
  expect(ask(flagz, accept).exchange.body).toMatch(/only\.\nsecure-port: 6443\nv: 0\n$/);
});

test('an object for programs that name one', () => {
  const { exchange, request } = ask(flagz, 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz');
  expect(exchange.responseHeaders['content-type']).toBe('application/json;g=config.k8s.io;v=v1beta1;as=Flagz');
  expect(JSON.parse(exchange.body as string)).toEqual({
    kind: 'Flagz',
    apiVersion: 'config.k8s.io/v1beta1',
    metadata: { name: 'apiserver' },
    flags: { 'secure-port': '6443', v: '0' },
  });
  expect(request.warnings).toEqual([]);
});

test('an older version with a warning, and as YAML', async () => {
  const { exchange, request, answered } = ask(statusz, 'application/yaml;g=config.k8s.io;v=v1alpha1;as=Statusz');
  await answered;
  expect(exchange.body).toContain('apiVersion: config.k8s.io/v1alpha1\n');
  expect(exchange.body).toContain('uptimeSeconds: 3662\n');
  expect(request.warnings).toEqual(['This version of the statusz endpoint is deprecated. Please use a newer version.']);
});

test.each(['application/json', 'text/html', 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz', 'application/json;g=config.k8s.io;v=v2;as=Statusz'])(
  'nothing else: %s',
  (accept) => {
    expect(() => ask(statusz, accept)).toThrow('only the following media types are accepted: application/json, application/yaml, text/plain');
  },
);
