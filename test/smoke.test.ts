import { test, expect } from 'vitest';
import { startServer } from './support/server.ts';
import { Clients } from './support/kubectl.ts';
test('smoke', async () => {
  const server = await startServer();
  const c = new Clients(server);
  console.log(await c.tryKubectl('version'));
  console.log(await c.tryHelm('version'));
  console.log(await c.tryKubectl('explain deploy.spec.replicas'));
  console.log(await c.tryKubectl('get ns'));
  console.log(await server.stop());
  expect(1).toBe(1);
});
