import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { removeLeftSocket } from './unix-socket.ts';

const folder = mkdtempSync(join(tmpdir(), 'binnacle-socket-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('removeLeftSocket', () => {
  test('removes the socket of a process that was killed', async () => {
    const path = join(folder, 'left');
    const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    expect(() => execFileSync(process.execPath, ['-e', script], { stdio: 'ignore' })).toThrow('Command failed');
    expect(existsSync(path)).toBe(true);
    await removeLeftSocket(path);
    expect(existsSync(path)).toBe(false);
  });

  test('leaves a socket on which somebody listens', async () => {
    const path = join(folder, 'taken');
    const server = createServer().listen(path);
    await once(server, 'listening');
    await removeLeftSocket(path);
    expect(existsSync(path)).toBe(true);
    server.close();
  });

  test('leaves what is no socket, and finds nothing where nothing is', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'precious');
    await removeLeftSocket(path);
    expect(existsSync(path)).toBe(true);
    await removeLeftSocket(join(folder, 'absent'));
  });
});
