import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logBackend, openLog } from './log-backend.ts';
import { RotatingFile, type RotationOptions } from './rotating-file.ts';
import { TestObserver, testEvent } from './testing.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-audit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const START = Date.parse('2026-01-02T03:04:05.678Z');
const LINE = `${'x'.repeat(9)}\n`;

/** Ten bytes a line, two lines a file; the clock goes on by a day a call. */
function open(options: Partial<RotationOptions> = {}, path = join(folder, 'audit.log')): RotatingFile {
  let calls = 0;
  return new RotatingFile(path, {
    maxBytes: 20,
    maxAgeDays: 0,
    maxBackups: 0,
    compresses: false,
    now: () => new Date(START + calls++ * 86_400_000),
    ...options,
  });
}
const files = (): string[] => readdirSync(folder).toSorted();
const content = (name: string): string => readFileSync(join(folder, name), 'utf8');
function write(file: RotatingFile, lines: number): void {
  for (let line = 0; line < lines; line++) file.write(LINE);
}

describe('a log file', () => {
  it('is made at once, with its folder, for nobody else to read', () => {
    const path = join(folder, 'deep', 'down', 'audit.log');
    open({}, path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
  });
  it('cannot be a folder', () => {
    mkdirSync(join(folder, 'audit.log'));
    expect(() => open()).toThrow('EISDIR');
  });
  it('is appended to', async () => {
    writeFileSync(join(folder, 'audit.log'), 'old\n');
    const file = open({ maxBytes: Infinity });
    write(file, 3);
    await file.close();
    expect(files()).toEqual(['audit.log']);
    expect(content('audit.log')).toBe(`old\n${LINE.repeat(3)}`);
  });
  it('is put aside when the next line has no room in it', async () => {
    const file = open();
    write(file, 5);
    await file.close();
    expect(files()).toEqual(['audit-2026-01-02T03-04-05.678.log', 'audit-2026-01-03T03-04-05.678.log', 'audit.log']);
    expect(files().map(content)).toEqual([LINE + LINE, LINE + LINE, LINE]);
  });
  it('is put aside at the start where it is full', async () => {
    writeFileSync(join(folder, 'audit.log'), LINE);
    chmodSync(join(folder, 'audit.log'), 0o640);
    const file = open();
    write(file, 1);
    await file.close();
    expect(files()).toEqual(['audit-2026-01-02T03-04-05.678.log', 'audit.log']);
    expect(statSync(join(folder, 'audit.log')).mode & 0o777).toBe(0o640);
  });
  it('never replaces one that was put aside in the same millisecond', async () => {
    const file = open({ now: () => new Date(START) });
    write(file, 6);
    await file.close();
    expect(files()).toEqual(['audit-2026-01-02T03-04-05.678.log', 'audit-2026-01-02T03-04-05.679.log', 'audit.log']);
  });
  it('takes no line that is longer than a file', () => {
    expect(() => open().write('y'.repeat(21))).toThrow('write length 21 exceeds maximum file size 20');
  });
  it('has long lines whole, and in their order, with what comes while they are written', async () => {
    const long = Array.from({ length: 20 }, (_, piece) => Buffer.from(String(piece % 10).repeat(10_000)));
    const file = open({ maxBytes: 410_000 });
    const written = [file.write([...long, Buffer.from('\n')]), file.write(LINE), file.write([...long, Buffer.from('\n')]), file.write(LINE)];
    await Promise.all(written);
    expect(file.write(LINE)).toBeUndefined();
    await file.close();
    expect(content('audit.log')).toBe(`${`${Buffer.concat(long).toString()}\n${LINE}`.repeat(2)}${LINE}`);
  });
  it('goes on after a long line that could not be written', async () => {
    const file = open({ maxBytes: Infinity }, '/dev/full');
    const long = 'x'.repeat(100_000);
    await expect(Promise.allSettled([file.write(long), file.write(LINE), file.write(long)])).resolves.toMatchObject(
      [1, 2, 3].map(() => ({ reason: { code: 'ENOSPC' } })),
    );
    await file.close();
  });
  it('keeps so many of those put aside', async () => {
    writeFileSync(join(folder, 'audit-yesterday.log'), 'not ours');
    writeFileSync(join(folder, 'other-2020-01-02T03-04-05.678.log'), 'not ours');
    const file = open({ maxBackups: 2 });
    write(file, 9);
    await file.close();
    expect(files()).toEqual([
      'audit-2026-01-04T03-04-05.678.log',
      'audit-2026-01-05T03-04-05.678.log',
      'audit-yesterday.log',
      'audit.log',
      'other-2020-01-02T03-04-05.678.log',
    ]);
  });
  it('keeps those put aside for so many days', async () => {
    writeFileSync(join(folder, 'audit-2025-12-24T00-00-00.000.log'), 'old');
    writeFileSync(join(folder, 'audit-2025-12-25T00-00-00.000.log.gz'), 'old');
    writeFileSync(join(folder, 'audit-2026-01-01T00-00-00.000.log'), 'young');
    const file = open({ maxAgeDays: 7, now: () => new Date(START) });
    write(file, 3);
    await file.close();
    expect(files()).toEqual(['audit-2026-01-01T00-00-00.000.log', 'audit-2026-01-02T03-04-05.678.log', 'audit.log']);
  });
  it('compresses those put aside', async () => {
    const file = open({ compresses: true, now: () => new Date(START) });
    write(file, 5);
    await file.close();
    expect(files()).toEqual(['audit-2026-01-02T03-04-05.678.log.gz', 'audit-2026-01-02T03-04-05.679.log.gz', 'audit.log']);
    expect(gunzipSync(readFileSync(join(folder, 'audit-2026-01-02T03-04-05.678.log.gz'))).toString()).toBe(LINE + LINE);
  });
});

describe('the log backend', () => {
  const NEVER: RotationOptions = { maxBytes: Infinity, maxAgeDays: 0, maxBackups: 0, compresses: false };
  it('writes a line an event, in either format', async () => {
    for (const format of ['json', 'legacy'] as const) {
      const backend = logBackend(openLog(join(folder, format), NEVER), format, new TestObserver());
      expect(backend.process([testEvent(), testEvent({ auditId: 'id-2' })])).toBe(true);
      await backend.close();
    }
    expect(
      content('json')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { auditID: string }).auditID),
    ).toEqual(['id-1', 'id-2']);
    expect(
      content('legacy')
        .trimEnd()
        .split('\n')
        .map((line) => / id="([^"]+)"/.exec(line)?.[1]),
    ).toEqual(['id-1', 'id-2']);
  });
  it('answers when a long line is written', async () => {
    const backend = logBackend(openLog(join(folder, 'long'), NEVER), 'json', new TestObserver());
    const stored = backend.process([testEvent({ responseObject: [Buffer.from(JSON.stringify('x'.repeat(100_000)))] })]);
    expect(await stored).toBe(true);
    expect((JSON.parse(content('long')) as { responseObject: string }).responseObject).toHaveLength(100_000);
    await backend.close();
  });
  it('counts what it cannot write, and goes on', async () => {
    const observer = new TestObserver();
    const backend = logBackend(open({ maxBytes: 400 }), 'json', observer);
    expect(backend.process([testEvent({ auditId: 'long', userAgent: 'x'.repeat(400) }), testEvent()])).toBe(false);
    await backend.close();
    expect(observer.errors).toMatchObject([{ plugin: 'log', error: expect.stringContaining('exceeds maximum file size 400') as string, ids: ['long'] }]);
    expect(content('audit.log')).toContain('"id-1"');
  });
});
