import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { FakeClient } from '../../client/fake-client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { type KubeletOptions, Kubelets } from './kubelets.ts';

const OPTIONS: KubeletOptions = { preferredAddressTypes: ['Hostname', 'InternalIP', 'ExternalIP'], port: 10_250, timeoutMs: 0 };

const folder = mkdtempSync(join(tmpdir(), 'kubelets-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function kubeletsOf(status: object, options: Partial<KubeletOptions> = {}, now?: () => number): Promise<Kubelets> {
  const client = new FakeClient();
  await client.resource('', 'nodes').create('', { metadata: { name: 'n' }, status } as unknown as ApiObject);
  return new Kubelets(client, { ...OPTIONS, ...options }, now);
}

test('a node is reached at the address of the best type that it has, and at its own port', async () => {
  const addresses = [
    { type: 'ExternalIP', address: '1.2.3.4' },
    { type: 'InternalIP', address: '10.0.0.1' },
    { type: 'InternalIP', address: '10.0.0.2' },
  ];
  expect(await (await kubeletsOf({ addresses })).of('n', 'nodes')).toMatchObject({ host: '10.0.0.1', port: 10_250, features: [] });
  expect(await (await kubeletsOf({ addresses }, { preferredAddressTypes: ['ExternalIP'] })).of('n', 'nodes')).toMatchObject({ host: '1.2.3.4' });
  const own = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: 99 } }, declaredFeatures: ['A'] };
  expect(await (await kubeletsOf(own)).of('n', 'nodes')).toMatchObject({ port: 99, features: ['A'] });
  expect(await (await kubeletsOf({ addresses, daemonEndpoints: { kubeletEndpoint: { Port: 0 } } })).of('n', 'nodes')).toMatchObject({ port: 10_250 });
});

test('a node without such an address, or none at all, is refused in upstream’s words', async () => {
  const addresses = [
    { type: 'InternalDNS', address: 'a.example' },
    { type: 'ExternalDNS', address: 'b.example' },
  ];
  await expect((await kubeletsOf({ addresses })).of('n', 'nodes')).rejects.toThrow(
    'no preferred addresses found; known addresses: [{InternalDNS a.example} {ExternalDNS b.example}]',
  );
  await expect((await kubeletsOf({})).of('n', 'nodes')).rejects.toThrow('no preferred addresses found; known addresses: []');
  await expect((await kubeletsOf({})).of('other', 'nodes')).rejects.toMatchObject({ code: 404, message: 'nodes "other" not found' });
  await expect((await kubeletsOf({})).of('other', 'pods')).rejects.toMatchObject({ code: 404, message: 'pods "other" not found' });
});

test('certificates are read again when they change, and kept while they are not there', async () => {
  const certificateAuthorityFile = join(folder, 'ca.crt');
  writeFileSync(certificateAuthorityFile, 'one');
  let nowMs = 0;
  const kubelets = await kubeletsOf({ addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] }, { certificateAuthorityFile }, () => nowMs);
  const [first, same] = await Promise.all([kubelets.of('n', 'nodes'), kubelets.of('n', 'nodes')]);
  expect(same.transport).toBe(first.transport);
  writeFileSync(certificateAuthorityFile, 'another');
  expect((await kubelets.of('n', 'nodes')).transport).toBe(first.transport);
  nowMs += 10_000;
  const second = await kubelets.of('n', 'nodes');
  expect(second.transport).not.toBe(first.transport);
  rmSync(certificateAuthorityFile);
  nowMs += 10_000;
  expect((await kubelets.of('n', 'nodes')).transport).toBe(second.transport);
  kubelets.close();
});
