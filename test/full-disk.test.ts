import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from './support/server.ts';

/* What clients see of a disk that is full: the process that keeps the store may not make its file larger. */

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const data = { blob: 'x'.repeat(500_000) };

test.each([[[]], [['--workers=2']]])(
  'with %j, who writes to a full disk is told so, reads go on, and writes once there is room',
  { timeout: 60_000 },
  async (flags) => {
    const server = await startServer({ storage: 'embedded', flags });
    const client = server.client();
    const limitFiles = (sizes: string): void => void execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${sizes}`]);
    const write = (name: string) => client.send({ method: 'POST', path: CONFIG_MAPS, body: { metadata: { name }, data } });
    limitFiles(`${statSync(join(server.dataDir, 'store', 'data.mdb')).size}:unlimited`);
    let made = 0;
    let answer = await write('large-0');
    while (answer.status === 201) answer = await write(`large-${++made}`);
    expect(answer.status).toBe(500);
    expect(answer.json<{ message: string }>().message).toMatch(/cannot write to the store in .*: the disk is full$/);
    for (let kept = 0; kept < made; kept++) await client.expect(200, { path: `${CONFIG_MAPS}/large-${kept}` });
    limitFiles('unlimited:unlimited');
    expect((await write(`large-${made}`)).status).toBe(201);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);
