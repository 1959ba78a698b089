import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { readIfThere, writePrivately } from './files.ts';

export interface ServiceAccountKeys {
  /** Signs the tokens that are issued here; undefined where another service signs them. */
  signing: KeyObject | undefined;
  /** The public keys of all that may have signed. */
  verification: readonly KeyObject[];
}

/** Asked whenever a token is to be signed or verified. */
export type ServiceAccountKeySource = () => Promise<ServiceAccountKeys>;

/**
 * The keys of service account tokens. Our own key is made when somebody first asks for it, and kept: RSA, since not every verifier knows another kind. That
 * takes up to two seconds of a core, which nobody can interrupt: a program that starts a server, uses no token and stops it must not wait for it. Keys that
 * exist are read at once, and those that cannot be used throw CommandError.
 */
export function openServiceAccountKeys(options: CompletedOptions, stop: AbortSignal): ServiceAccountKeySource {
  const path = options.serviceAccountSigningKeyFile;
  if (options.isSigningKeyGenerated && readIfThere(path) === undefined) return onceDone(() => makeSigningKey(path, stop).then(() => readKeys(options)));
  const keys = readKeys(options);
  return () => Promise.resolve(keys);
}

const readKeys = ({ serviceAccountSigningKeyFile: signingKeyFile, serviceAccountKeyFile: keyFiles }: CompletedOptions): ServiceAccountKeys => ({
  signing: signingKeyFile === '' ? undefined : readPrivateKey(signingKeyFile),
  verification: keyFiles.flatMap(readPublicKeys),
});

/** All who ask meanwhile get the same answer; after a failure the next one tries again. */
function onceDone<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    made.catch(() => (made = undefined));
    return made;
  };
}

function readPrivateKey(path: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`--service-account-signing-key-file: ${path} holds no key that can be used: ${(error as Error).message}`);
  }
}

/** A server that is stopped before it is made leaves no key behind. */
async function makeSigningKey(path: string, stop: AbortSignal): Promise<void> {
  stop.throwIfAborted();
  // A fork has its folder in common with its origin, which may have made it by now.
  if (readIfThere(path) !== undefined) return;
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
