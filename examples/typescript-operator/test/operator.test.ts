import { KubeConfig } from '@kubernetes/client-node';
import type { StartedServer } from 'binnacle';
import { serverTest } from 'binnacle/vitest';
import { expect } from 'vitest';
import { startOperator } from '../src/operator.ts';

const test = serverTest({ crds: new URL('../../config', import.meta.url).pathname });

const website = (html: string) => ({ apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'home' }, spec: { html } });
const home = { apiVersion: 'example.com/v1', kind: 'Website', name: 'home' };
const page = { apiVersion: 'v1', kind: 'ConfigMap', name: 'home-html' } as const;

function configOf(server: StartedServer): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig);
  return config;
}

test('publishes a website, and its changes', async ({ server }) => {
  const operator = await startOperator(configOf(server));
  await server.apply(website('<h1>Hello</h1>'));
  await server.waitFor(home, { status: { phase: 'Ready' } });
  await server.waitFor(page, { data: { 'index.html': '<h1>Hello</h1>' } });
  await server.apply(website('<h1>Good bye</h1>'));
  await server.waitFor(page, { data: { 'index.html': '<h1>Good bye</h1>' } });
  server.requests.assertNoneFailed((request) => request.verb === 'patch');
  await operator.stop();
});

test('what it published goes with the website', async ({ server }) => {
  const operator = await startOperator(configOf(server));
  await server.apply(website('<h1>Hello</h1>'));
  await server.waitFor(page, (configMap) => configMap !== undefined);
  await operator.stop();
  await server.delete(home);
  await server.waitFor(page, (configMap) => configMap === undefined);
});

test('survives a server that is overloaded, and a watch that expires', async ({ server }) => {
  server.faults.add({ error: 503, match: { verbs: ['create'], resources: ['configmaps'] }, times: 3 });
  server.faults.add({ watch: 'expire', match: { resources: ['websites.example.com'] }, times: 1 });
  const operator = await startOperator(configOf(server));
  await server.apply(website('<h1>Hello</h1>'));
  await server.waitFor(page, { data: { 'index.html': '<h1>Hello</h1>' } });
  expect(server.faults.injected.length).toBeGreaterThanOrEqual(3);
  await operator.stop();
});
