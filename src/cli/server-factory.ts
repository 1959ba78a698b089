import type { TokenReader } from '../apis/authentication/reviews.ts';
import { createAuthenticator } from '../authentication/chain.ts';
import { createLoopbackIdentity } from '../authentication/loopback.ts';
import type { TokenAuthenticator } from '../authentication/token-authenticator.ts';
import { loadTokenFile } from '../authentication/token-file.ts';
import { firstTokenOf } from '../authentication/union.ts';
import { type RunningChain, prepareRun } from '../server/chain.ts';
import type { Engine } from '../storage/engine.ts';
import { openEngine } from '../storage/open.ts';
import { ALL_AUTHENTICATED } from '../util/user.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { bootstrapOptions, frontOptions } from './front-options.ts';
import type { Logger } from './logger.ts';
import type { ServerFactory } from './run.ts';
import { createServerChain } from './server-chain.ts';
import { loadVerificationKeys } from './signing-keys.ts';
import { type ServingFiles, openServingFiles, startListening } from './serving-files.ts';

/** CreateServerChain → PrepareRun → Run, on the store that the options name. */
export const createServer: ServerFactory = async (options, logger) => {
  if (options.storageBackend === 'etcd3') throw new CommandError('the etcd3 storage backend is still to come: leave out --etcd-servers, or choose --storage-backend=embedded');
  const files = openServingFiles(options, logger);
  const engine = await openEngine({ backend: options.storageBackend, dataDir: options.storeDir });
  const close = async (): Promise<void> => {
    files.close();
    await engine.close();
  };
  const stop = new AbortController();
  try {
    const { listener, ready, stopped } = await run(options, logger, files, engine, stop.signal);
    const closed = stopped.finally(close);
    closed.catch(() => undefined);
    return {
      url: `https://127.0.0.1:${listener.address.port}`,
      ready,
      stop() {
        stop.abort();
        return closed;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

async function run(options: CompletedOptions, logger: Logger, files: ServingFiles, engine: Engine, stop: AbortSignal): Promise<RunningChain> {
  const address = { port: options.securePort };
  const verificationKeys = loadVerificationKeys(options);
  verificationKeys.catch((error: unknown) => logger.error('The keys of service account tokens cannot be used', { error }));
  const tokens = tokenAuthenticators(options, logger);
  const chain = createServerChain(options, { engine, readToken: tokenReader(tokens), bootstrap: bootstrapOptions(options, logger, files, address), now: () => new Date() });
  await chain.synced;
  const authenticator = createAuthenticator({
    tokens,
    ...(files.clientCa && { clientCertificates: { authorities: authoritiesOf(files.clientCa) } }),
    ...(options.anonymousAuth && { anonymous: { paths: [] } }),
  });
  const prepared = prepareRun(chain, frontOptions(options, { logger, engine, chain, authenticator, verificationKeys, address }));
  const running = await prepared.run((onExchange) => startListening(options, files, logger, onExchange), stop);
  address.port = running.listener.address.port;
  return running;
}

function tokenAuthenticators(options: CompletedOptions, logger: Logger): TokenAuthenticator[] {
  const fromFile = options.tokenAuthFile === '' ? [] : [loadTokenFile(options.tokenAuthFile, (message) => logger.warn(message))];
  return [createLoopbackIdentity().tokens, ...fromFile];
}

/** The same array until the file changes: what was found for a connection holds so long. */
function authoritiesOf(clientCa: { readonly current: string; onChange(listener: () => void): void }): () => readonly string[] {
  let authorities = [clientCa.current];
  clientCa.onChange(() => (authorities = [clientCa.current]));
  return () => authorities;
}

/** As a request that carried the token would be taken. */
function tokenReader(tokens: readonly TokenAuthenticator[]): TokenReader {
  const all = firstTokenOf(tokens);
  return async (token) => {
    const found = await all.authenticateToken(token);
    return found && { ...found, user: { ...found.user, groups: [...found.user.groups, ALL_AUTHENTICATED] } };
  };
}
