import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import type { Clock } from '../../util/clock.ts';
import type { ChangeLogLimits } from '../engines/change-log.ts';
import { openEmbeddedEngine } from '../engines/embedded.ts';
import type { LocalEngine } from '../engines/local-engine.ts';
import { startEtcdServer } from './server.ts';
import { TestClient } from './test-client.ts';

export interface TestStore {
  readonly engine: LocalEngine;
  readonly client: TestClient;
  readonly url: string;
  readonly folder: string;
  /** Ends the server and opens the same folder again. */
  restart(): Promise<TestStore>;
}

interface TestStoreOptions {
  clock?: Clock;
  history?: ChangeLogLimits;
}

const root = mkdtempSync(join(tmpdir(), 'binnacle-etcd-server-'));
const closing = new Set<() => Promise<void>>();
afterEach(async () => {
  await Promise.all([...closing].map((close) => close()));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** etcd's API on an embedded store behind a Unix socket, until the test ends. */
export const openStore = (options: TestStoreOptions = {}): Promise<TestStore> => openFolder(mkdtempSync(join(root, 's-')), options);

async function openFolder(folder: string, options: TestStoreOptions): Promise<TestStore> {
  const engine = await openEmbeddedEngine({ ...options, folder: join(folder, 'store') });
  const server = await startEtcdServer({ ...options, engine, listenUrls: [`unix://${join(folder, 'store.sock')}`], snapshotFolder: folder });
  const client = new TestClient(server.urls[0]!);
  const close = async (): Promise<void> => {
    closing.delete(close);
    client.close();
    await server.close();
    await engine.close();
  };
  closing.add(close);
  const restart = async (): Promise<TestStore> => {
    await close();
    return openFolder(folder, options);
  };
  return { engine, client, url: server.urls[0]!, folder, restart };
}
