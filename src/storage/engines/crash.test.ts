import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine } from '../engine.ts';
import { openEmbeddedEngine } from './embedded.ts';

const ROUNDS = 20;
const NOBODY = 65_534;

const root = mkdtempSync(join(tmpdir(), 'binnacle-crash-'));
const program = join(root, 'crash-writer.mjs');
const children = new Set<ChildProcess>();

beforeAll(async () => {
  // lmdb is native code: it stays where it is, and is loaded from there.
  const lmdb = fileURLToPath(import.meta.resolve('lmdb'));
  const entry = fileURLToPath(new URL('crash-writer.ts', import.meta.url));
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: program, alias: { lmdb }, external: [lmdb], logLevel: 'error' });
  chmodSync(root, 0o755);
});
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const newFolder = (): string => mkdtempSync(join(root, 'store-'));

/** A running writer and the lines that it has said. */
class Writer {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly ended: Promise<void>;

  constructor(command: string, args: string[], options: { uid?: number } = {}) {
    this.child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
    children.add(this.child);
    const reader = createInterface({ input: this.child.stdout! });
    reader.on('line', (line) => {
      this.lines.push(line);
      for (const listener of this.#listeners) listener();
    });
    this.ended = new Promise((resolve) => reader.on('close', resolve));
    void this.ended.then(() => children.delete(this.child));
  }

  async until(condition: (lines: string[]) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!condition(this.lines)) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
      listener();
    });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

async function lostOf(engine: Engine, acknowledged: Map<string, number>): Promise<string[]> {
  const stored = new Map((await engine.range('')).items.map(({ key, revision }) => [key, revision]));
  return [...acknowledged].filter(([key, revision]) => (stored.get(key) ?? 0) < revision).map(([key]) => key);
}

const isRefusal = (line: string): boolean => line.startsWith('!');

test(`killed ${ROUNDS} times under 64 writers, nothing acknowledged is lost and revisions never go back`, { timeout: 60_000 }, async () => {
  const folder = newFolder();
  const acknowledged = new Map<string, number>();
  let newest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const writer = new Writer(process.execPath, [program, folder, '64', '1000']);
    const enough = 1 + Math.floor(Math.random() * 600);
    await writer.until((lines) => lines.length >= enough);
    await writer.kill();
    for (const line of writer.lines) {
      const [key, revision] = line.split(' ') as [string, string];
      acknowledged.set(key, Math.max(Number(revision), acknowledged.get(key) ?? 0));
      newest = Math.max(newest, Number(revision));
    }
    const engine = await openEmbeddedEngine({ folder });
    expect(await lostOf(engine, acknowledged)).toEqual([]);
    expect(writer.lines.filter(isRefusal)).toEqual([]);
    expect(await engine.currentRevision()).toBeGreaterThanOrEqual(newest);
    newest = await engine.currentRevision();
    await engine.close();
  }
  expect(acknowledged.size).toBeGreaterThan(ROUNDS);
});

test('a second process is refused, and told who is first', { timeout: 20_000 }, async () => {
  const folder = newFolder();
  const first = new Writer(process.execPath, [program, folder]);
  await first.until((lines) => lines.length > 0);
  const second = new Writer(process.execPath, [program, folder]);
  await second.ended;
  expect(second.lines).toEqual([
    `! the folder ${folder} is in use by another server (process ${first.child.pid}); stop that one first, or choose another folder`,
  ]);
  await first.kill();
});

const isRoot = process.getuid?.() === 0;
test.skipIf(!isRoot)('a folder that may not be written is refused in one line', { timeout: 20_000 }, async () => {
  const folder = newFolder();
  chmodSync(folder, 0o555);
  const writer = new Writer(process.execPath, [program, folder], { uid: NOBODY });
  await writer.ended;
  expect(writer.lines).toEqual([`! cannot open the store in ${folder}: it may not be written`]);
});

test('with no room left commits are refused in one line, and go on when there is room', { timeout: 20_000 }, async () => {
  const folder = newFolder();
  const limitBlocks = 1_024;
  const writer = new Writer('/bin/sh', ['-c', `ulimit -S -f ${limitBlocks}; exec "$0" "$@"`, process.execPath, program, folder, '4', '20000']);
  await writer.until((lines) => lines.some(isRefusal));
  expect(writer.lines.find(isRefusal)).toBe(`! cannot write to the store in ${folder}: the disk is full`);
  execFileSync('prlimit', ['--pid', String(writer.child.pid), '--fsize=unlimited']);
  const before = writer.lines.length;
  await writer.until((lines) => lines.slice(before).some((line) => !isRefusal(line)));
  await writer.kill();
  const engine = await openEmbeddedEngine({ folder });
  const acknowledged = new Map(writer.lines.filter((line) => !isRefusal(line)).map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]));
  expect(await lostOf(engine, acknowledged)).toEqual([]);
  await engine.close();
});
