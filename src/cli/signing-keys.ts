import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { readIfThere, writePrivately } from './files.ts';

/**
 * The public keys of all that may have signed service account tokens. Our own key is made at the first start and kept: RSA, since not every verifier knows
 * another kind. That takes a while, so it is made on another thread while the server starts.
 */
export async function loadVerificationKeys(options: CompletedOptions): Promise<KeyObject[]> {
  if (options.isSigningKeyGenerated) await makeSigningKey(options.serviceAccountSigningKeyFile);
  return options.serviceAccountKeyFile.flatMap(readPublicKeys);
}

async function makeSigningKey(path: string): Promise<void> {
  if (readIfThere(path) !== undefined) return;
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  writePrivately(path, privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** A file may hold several keys, public or private (client-go/util/keyutil). */
function readPublicKeys(path: string): KeyObject[] {
  const blocks = readFileSync(path, 'utf8').match(PEM_BLOCK) ?? [];
  try {
    return blocks.filter((pem) => pem.includes('KEY-----') || pem.includes('CERTIFICATE-----')).map((pem) => createPublicKey(pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : pem));
  } catch (error) {
    throw new CommandError(`--service-account-key-file: ${path} holds a key that cannot be used: ${(error as Error).message}`);
  }
}
