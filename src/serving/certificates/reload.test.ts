import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Gate } from '../test-server.ts';
import { createSelfSigned } from './create.ts';
import { type FileReloadable, watchBundle, watchKeyPair } from './reload.ts';

let folder: string;
const open: FileReloadable<unknown>[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-reload-'));
});
afterEach(() => {
  for (const reloadable of open.splice(0)) reloadable.close();
  rmSync(folder, { recursive: true, force: true });
});

const nextChange = (reloadable: FileReloadable<unknown>): Promise<void> => new Promise((resolve) => reloadable.onChange(resolve));

function writePair(name: string): { certPem: string; keyPem: string } {
  const pair = createSelfSigned({ commonName: name });
  writeFileSync(join(folder, 'tls.crt'), pair.certPem);
  writeFileSync(join(folder, 'tls.key'), pair.keyPem);
  return pair;
}

describe('certificates that change on disk', () => {
  test.each([
    ['by the report of the file system', { pollMs: 3_600_000, settleMs: 1 }],
    ['by polling', { pollMs: 5, settleMs: 3_600_000 }],
  ])('a new pair is taken %s', async (_, options) => {
    const first = writePair('one');
    const pair = watchKeyPair(join(folder, 'tls.crt'), join(folder, 'tls.key'), options);
    open.push(pair);
    expect(pair.current).toEqual(first);
    const changed = nextChange(pair);
    const second = writePair('two');
    await changed;
    expect(pair.current).toEqual(second);
  });

  test('a broken file is told once, and the old pair stays until a good one comes', async () => {
    const first = writePair('one');
    const errors: string[] = [];
    const told = new Gate();
    const pair = watchKeyPair(join(folder, 'tls.crt'), join(folder, 'tls.key'), {
      pollMs: 5,
      settleMs: 1,
      onError: (error) => (errors.push(error.message), told.open()),
    });
    open.push(pair);
    writeFileSync(join(folder, 'tls.key'), createSelfSigned({ commonName: 'other' }).keyPem);
    await told.opened;
    expect(errors).toEqual([expect.stringContaining('tls.key: tls: private key does not match public key')]);
    expect(pair.current).toEqual(first);
    const changed = nextChange(pair);
    const second = writePair('two');
    await changed;
    expect(pair.current).toEqual(second);
  });

  test('a bundle that is replaced by a rename', async () => {
    const file = join(folder, 'ca.pem');
    writeFileSync(file, createSelfSigned({ commonName: 'one' }).certPem);
    const bundle = watchBundle(file, { pollMs: 3_600_000, settleMs: 1 });
    open.push(bundle);
    const changed = nextChange(bundle);
    const { certPem } = createSelfSigned({ commonName: 'two' });
    writeFileSync(join(folder, 'ca.new'), certPem);
    renameSync(join(folder, 'ca.new'), file);
    await changed;
    expect(bundle.current).toBe(certPem);
  });

  test('what cannot be used at the start is thrown', () => {
    expect(() => watchKeyPair(join(folder, 'no.crt'), join(folder, 'no.key'))).toThrow('ENOENT');
    writeFileSync(join(folder, 'empty.pem'), '');
    writeFileSync(join(folder, 'text.pem'), 'hello');
    expect(() => watchBundle(join(folder, 'empty.pem'))).toThrow('missing content for CA bundle');
    expect(() => watchBundle(join(folder, 'text.pem'))).toThrow('data does not contain any valid RSA or ECDSA certificates');
  });
});
