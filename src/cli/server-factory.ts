import type { TokenReader } from '../apis/authentication/reviews.ts';
import { allowPrivileged } from '../apis/core/pod/privileges.ts';
import { createAuthenticator } from '../authentication/chain.ts';
import { withImplicitAudiences } from '../authentication/implicit-audiences.ts';
import { createLoopbackIdentity } from '../authentication/loopback.ts';
import { ServiceAccountTokens } from '../authentication/service-account.ts';
import type { TokenAuthenticator } from '../authentication/token-authenticator.ts';
import { loadTokenFile } from '../authentication/token-file.ts';
import { firstTokenOf } from '../authentication/union.ts';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import { type RunningChain, prepareRun } from '../server/chain.ts';
import { InProcessClient } from '../server/in-process-client.ts';
import type { Engine } from '../storage/engine.ts';
import { openEngine } from '../storage/open.ts';
import { ALL_AUTHENTICATED } from '../util/user.ts';
import { CommandError } from './command-error.ts';
import type { CompletedOptions } from './completion.ts';
import { bootstrapOptions, frontOptions } from './front-options.ts';
import type { Logger } from './logger.ts';
import type { ServerFactory } from './run.ts';
import { createServerChain } from './server-chain.ts';
import { type ServiceAccountKeys, loadServiceAccountKeys } from './signing-keys.ts';
import { type ServingFiles, openServingFiles, startListening } from './serving-files.ts';

/** CreateServerChain → PrepareRun → Run, on the store that the options name. */
export const createServer: ServerFactory = async (options, logger) => {
  if (options.storageBackend === 'etcd3')
    throw new CommandError('the etcd3 storage backend is still to come: leave out --etcd-servers, or choose --storage-backend=embedded');
  allowPrivileged(options.allowPrivileged);
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

const now = (): Date => new Date();

async function run(options: CompletedOptions, logger: Logger, files: ServingFiles, engine: Engine, stop: AbortSignal): Promise<RunningChain> {
  const address = { port: options.securePort };
  const client = new InProcessClient();
  const keys = loadServiceAccountKeys(options);
  keys.catch((error: unknown) => logger.error('The keys of service account tokens cannot be used', { error }));
  const verificationKeys = keys.then(({ verification }) => verification);
  verificationKeys.catch(() => undefined);
  const serviceAccounts = new ServiceAccountTokens({
    issuers: options.serviceAccountIssuer,
    publicKeys: verificationKeys,
    apiAudiences: options.apiAudiences,
    client,
    now,
  });
  const tokens = [...staticTokens(options, logger), serviceAccounts];
  const chain = createServerChain(options, {
    engine,
    client,
    now,
    bootstrap: bootstrapOptions(options, logger, files, address),
    readToken: tokenReader(tokens, options.apiAudiences),
    tokenIssuer: tokenIssuer(options, keys),
  });
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

function staticTokens(options: CompletedOptions, logger: Logger): TokenAuthenticator[] {
  const fromFile = options.tokenAuthFile === '' ? [] : [loadTokenFile(options.tokenAuthFile, (message) => logger.warn(message))];
  return [createLoopbackIdentity().tokens, ...fromFile].map((tokens) => withImplicitAudiences(tokens, options.apiAudiences));
}

function tokenIssuer(options: CompletedOptions, keys: Promise<ServiceAccountKeys>): TokenIssuerOptions | undefined {
  if (options.serviceAccountSigningKeyFile === '') return undefined;
  const signingKey = keys.then(({ signing }) => signing!);
  signingKey.catch(() => undefined);
  return {
    issuer: options.serviceAccountIssuer[0]!,
    signingKey,
    apiAudiences: options.apiAudiences,
    maxLifetimeSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendsPodTokens: options.serviceAccountExtendTokenExpiration,
  };
}

/** The same array until the file changes: what was found for a connection holds so long. */
function authoritiesOf(clientCa: { readonly current: string; onChange(listener: () => void): void }): () => readonly string[] {
  let authorities = [clientCa.current];
  clientCa.onChange(() => (authorities = [clientCa.current]));
  return () => authorities;
}

const INVALID = 'invalid bearer token';

/** As a request that carried the token would be taken. The reference asks for its own token apart, so that complaint stands before any other. */
function tokenReader(tokens: readonly TokenAuthenticator[], apiAudiences: readonly string[]): TokenReader {
  const all = firstTokenOf(tokens);
  const read = async (token: string, audiences: readonly string[]) => {
    try {
      return await all.authenticateToken(token, audiences);
    } catch (error) {
      throw new Error(`[${INVALID}, ${(error as Error).message}]`, { cause: error });
    }
  };
  return async (token, audiences) => {
    const found = await read(token, audiences.length > 0 ? audiences : apiAudiences);
    if (!found) throw new Error(INVALID);
    return { ...found, user: { ...found.user, groups: [...found.user.groups, ALL_AUTHENTICATED] } };
  };
}
