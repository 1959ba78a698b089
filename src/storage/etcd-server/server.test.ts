import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type ContractOptions, engineContract } from '../engines/contract.ts';
import { StorageUnavailable } from '../engine.ts';
import { openEmbeddedEngine } from '../engines/embedded.ts';
import { openEtcdEngine } from '../engines/etcd/engine.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { startEtcdServer } from './server.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-store-'));
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  rmSync(root, { recursive: true, force: true });
});

/** Our own client of etcd on our own server of it, over a socket. */
function contractThrough(name: string, open: (options: ContractOptions) => Promise<LocalEngine>): void {
  engineContract(
    name,
    async (options) => {
      const engine = await open(options);
      const server = await startEtcdServer({ engine, clock: options.clock, listenUrls: [`unix://${join(mkdtempSync(join(root, 's-')), 'store.sock')}`] });
      closing.push(async () => {
        await server.close();
        await engine.close();
      });
      return openEtcdEngine({ endpoints: server.urls, clock: options.clock });
    },
    { isClocked: true },
  );
}

contractThrough('memory engine behind etcd’s API', async (options) => openMemoryEngine(options));
contractThrough('embedded engine behind etcd’s API', (options) => openEmbeddedEngine({ ...options, folder: mkdtempSync(join(root, 'e-')) }));

test('a worker is as well as the store says that it is, which may be read and yet not written', async () => {
  const engine = await openMemoryEngine({});
  const server = await startEtcdServer({ engine, listenUrls: [`unix://${join(mkdtempSync(join(root, 's-')), 'store.sock')}`] });
  const worker = await openEtcdEngine({ endpoints: server.urls, hasHealthService: true });
  const other = await openEtcdEngine({ endpoints: server.urls });
  await worker.checkHealth();
  vi.spyOn(engine, 'checkHealth').mockRejectedValue(new StorageUnavailable('the disk is full'));
  // What was asked within the last second is not asked again.
  await vi.waitFor(() => expect(worker.checkHealth()).rejects.toThrow('etcdserver: the disk is full'), { timeout: 10_000 });
  await other.checkHealth();
  await Promise.all([worker.close(), other.close()]);
  await server.close();
  await engine.close();
});
