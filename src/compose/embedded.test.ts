import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { CompletedOptions } from '../options/completion.ts';
import type { ServerFactory } from './start.ts';
import { startEmbedded } from './embedded.ts';

test('starts in memory, on a free port, with an administrator; leaves nothing behind', async () => {
  const started: CompletedOptions[] = [];
  const factory: ServerFactory = async (options) => {
    started.push(options);
    return { url: 'https://127.0.0.1:41234', ready: Promise.resolve(), stop: async () => undefined };
  };
  const server = await startEmbedded({ flags: ['--event-ttl=1m'] }, factory);
  expect(started[0]).toMatchObject({ storageBackend: 'memory', securePort: 0, bindAddress: '127.0.0.1', authorizationMode: ['RBAC'], eventTtlMs: 60_000 });
  expect(server.kubeconfig).toContain('server: https://127.0.0.1:41234');
  expect(readFileSync(server.kubeconfigFile, 'utf8')).toBe(server.kubeconfig);
  expect(server.caCertificate).toContain('BEGIN CERTIFICATE');
  await server.stop();
  expect(existsSync(dirname(server.kubeconfigFile))).toBe(false);
});

test('what fails leaves nothing behind', async () => {
  let stops = 0;
  let dataDir = '';
  const factory: ServerFactory = async (options) => {
    dataDir = options.dataDir;
    return { url: 'https://127.0.0.1:41234', ready: Promise.reject(new Error('no')), stop: async () => void stops++ };
  };
  await expect(startEmbedded({}, factory)).rejects.toThrow('no');
  expect([stops, existsSync(dataDir)]).toEqual([1, false]);
});
