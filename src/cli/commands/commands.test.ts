import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openEmbeddedEngine } from '../../storage/engines/embedded.ts';
import { runCommand } from '../command.ts';
import { progressLine } from './progress-line.ts';

const root = mkdtempSync(join(tmpdir(), 'binnacle-commands-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newDataDir = (): string => mkdtempSync(join(root, 'data-'));

async function run(...args: string[]): Promise<string> {
  let said = '';
  const say = (text: string): void => void (said += text);
  const code = await runCommand(['node', 'binnacle', ...args], { stdout: say, stderr: say, columns: 0 });
  return `${code} ${said}`;
}

/** A store with a namespace, a custom object and what a server keeps for itself, as the embedded store writes them. */
async function dataDirWithObjects(): Promise<string> {
  const dataDir = newDataDir();
  const engine = await openEmbeddedEngine({ folder: join(dataDir, 'store') });
  const put = (key: string, value: string): Promise<number> => engine.commit({ type: 'put', key, value: Buffer.from(value), expected: 0 });
  await put('/registry/namespaces/b', '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"b","uid":"1"},"spec":{},"status":{"phase":"Active"}}');
  await put('/registry/example.com/widgets/b/w', '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"},"spec":{"b":1,"a":2}}');
  await put('/registry/masterleases/10.0.0.1', '{}');
  await engine.close();
  return dataDir;
}

const keysOf = async (dataDir: string): Promise<string[]> => {
  const engine = await openEmbeddedEngine({ folder: join(dataDir, 'store') });
  const { items } = await engine.range('');
  await engine.close();
  return items.map(({ key }) => key);
};

describe('backup and restore', () => {
  test('go from folder to file to folder', async () => {
    const from = await dataDirWithObjects();
    const to = join(newDataDir(), 'new');
    const file = join(root, 'one.backup');
    expect(await run('backup', file, '--data-dir', from)).toBe(`0 3 objects as of version 4 are in ${file}\n`);
    expect(await run('restore', file, `--data-dir=${to}`)).toBe(`0 3 objects are in ${join(to, 'store')}, which goes on from version 1000000004\n`);
    expect(await keysOf(to)).toEqual(await keysOf(from));
    expect(await run('restore', file, `--data-dir=${to}`)).toMatch(/^1 error: there is a store in .* already/);
    expect(await run('restore', file, `--data-dir=${to}`, '--force')).toMatch(/^0 3 objects/);
  });

  test('refuse in a line', async () => {
    const dataDir = newDataDir();
    expect(await run('backup')).toBe('1 error: "binnacle backup" takes one argument, the file to write; it got 0\n');
    expect(await run('backup', 'x', '--force')).toMatch(/^1 error: Unknown option '--force'.*\n$/);
    expect(await run('backup', join(root, 'x'), '--data-dir', dataDir)).toBe(`1 error: there is no store in ${join(dataDir, 'store')}\n`);
    expect(await run('restore', join(root, 'none'), '--data-dir', dataDir)).toBe(`1 error: cannot read ${join(root, 'none')}: no such file\n`);
    expect(existsSync(join(dataDir, 'store'))).toBe(false);
  });

  test('have help', async () => {
    for (const name of ['backup', 'restore', 'migrate']) {
      expect(await run(name, '--help')).toContain(`Usage:\n  binnacle ${name} `);
      expect(await run('help', name)).toBe(await run(name, '-h'));
    }
  });
});

describe('migrate', () => {
  test('copies a store, less what servers keep for themselves, once', async () => {
    const from = await dataDirWithObjects();
    const to = join(newDataDir(), 'new');
    expect(await run('migrate', '--from', from, `--to=${to}`)).toBe('0 2 objects were copied\n');
    expect(await keysOf(to)).toEqual(['/registry/example.com/widgets/b/w', '/registry/namespaces/b']);
    expect(await run('migrate', '--from', from, '--to', to)).toBe('0 0 objects were copied, and 2 were there already\n');
  });

  test('refuses in a line', async () => {
    const from = await dataDirWithObjects();
    expect(await run('migrate')).toMatch(/^1 error: say where to copy from and to: --from .* --to etcd .*\n$/);
    expect(await run('migrate', '--from', from, '--to', 'etcd')).toBe('1 error: name the etcd servers with --etcd-servers\n');
    expect(await run('migrate', '--from', from, '--to', from)).toBe('1 error: --from and --to are the same store\n');
    expect(await run('migrate', '--from', newDataDir(), '--to', from)).toMatch(/^1 error: there is no store in .*\n$/);
    expect(await run('migrate', '--from', from, '--to', newDataDir(), 'x')).toBe('1 error: "binnacle migrate" takes flags only, got "x"\n');
    const engine = await openEmbeddedEngine({ folder: join(from, 'store') });
    expect(await run('migrate', '--from', from, '--to', newDataDir())).toMatch(/^1 error: the folder .* is in use by another server/);
    await engine.close();
  });
});

describe('the progress line', () => {
  test('comes after a second, is drawn a few times a second, and goes', () => {
    let said = '';
    let nowMs = 0;
    const line = progressLine('Copying', { stdout: () => undefined, stderr: (text) => (said += text), columns: 60 }, () => nowMs);
    line.update(1, 10);
    expect(said).toBe('');
    nowMs = 1_001;
    line.update(5, 10);
    line.update(6, 10);
    expect(said).toBe('\rCopying [############            ] 50 % (5 of 10)');
    line.end();
    line.end();
    expect(said).toBe(`\rCopying [############            ] 50 % (5 of 10)\r${' '.repeat(59)}\r`);
  });

  test('is not drawn where there is no terminal', () => {
    let said = '';
    const line = progressLine('Copying', { stdout: () => undefined, stderr: (text) => (said += text), columns: 0 }, () => Number.MAX_SAFE_INTEGER);
    line.update(5, 10);
    line.end();
    expect(said).toBe('');
  });
});
