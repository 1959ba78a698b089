import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { readIfThere, writePrivately } from './files.ts';

export interface ServiceAccountKeys {
  /** Signs the tokens that are issued here; undefined where another service signs them. */
  signing: KeyObject | undefined;
  /** The public keys of all that may have signed. */
  verification: readonly KeyObject[];
}

/**
 * The keys of service account tokens. Our own key is made at the first start and kept: RSA, since not every verifier knows
 * another kind. That takes a while of a core, so it waits for `started`; until it is made, whoever asks for a token waits. A server that
 * is stopped before that leaves no key behind.
 */
export async function loadServiceAccountKeys(options: CompletedOptions, started: Promise<void>, stop: AbortSignal): Promise<ServiceAccountKeys> {
  const { serviceAccountSigningKeyFile: signingKeyFile, serviceAccountKeyFile: keyFiles } = options;
  if (options.isSigningKeyGenerated) await makeSigningKey(signingKeyFile, started, stop);
  return { signing: signingKeyFile === '' ? undefined : readPrivateKey(signingKeyFile), verification: keyFiles.flatMap(readPublicKeys) };
}

function readPrivateKey(path: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`--service-account-signing-key-file: ${path} holds no key that can be used: ${(error as Error).message}`);
  }
}

async function makeSigningKey(path: string, started: Promise<void>, stop: AbortSignal): Promise<void> {
  if (readIfThere(path) !== undefined) return;
  await started;
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  stop.throwIfAborted();
  writePrivately(path, privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g;

/** A file may hold several keys, public or private (client-go/util/keyutil). */
function readPublicKeys(path: string): KeyObject[] {
  const blocks = readFileSync(path, 'utf8').match(PEM_BLOCK) ?? [];
  try {
    return blocks
      .filter((pem) => pem.includes('KEY-----') || pem.includes('CERTIFICATE-----'))
      .map((pem) => createPublicKey(pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : pem));
  } catch (error) {
    throw new CommandError(`--service-account-key-file: ${path} holds a key that cannot be used: ${(error as Error).message}`);
  }
}
