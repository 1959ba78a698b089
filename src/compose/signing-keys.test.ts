import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { complete } from '../options/completion.ts';
import { parseFlags } from '../options/flags/parser.ts';
import { openServiceAccountKeys } from './signing-keys.ts';

const NEVER = new AbortController().signal;

it('makes an RSA key when one is asked for first, for its owner only, and keeps it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-test-'));
  const options = complete(parseFlags(['--storage-backend=memory', `--data-dir=${dataDir}`]));
  const path = join(dataDir, 'service-account.key');
  const ask = openServiceAccountKeys(options, NEVER);
  expect(existsSync(path)).toBe(false);
  const { signing, verification } = await ask();
  const [first] = verification;
  expect(signing).toMatchObject({ type: 'private', asymmetricKeyType: 'rsa' });
  expect(first).toMatchObject({ type: 'public', asymmetricKeyType: 'rsa' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, 'utf8');
  const [second] = (await openServiceAccountKeys(options, NEVER)()).verification;
  expect(second!.equals(first!)).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('leaves none behind where the server has stopped meanwhile', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'binnacle-test-'));
  const options = complete(parseFlags(['--storage-backend=memory', `--data-dir=${dataDir}`]));
  await expect(openServiceAccountKeys(options, AbortSignal.abort())()).rejects.toThrow('aborted');
  expect(existsSync(join(dataDir, 'service-account.key'))).toBe(false);
});
