import { ANONYMOUS } from '../api/user.ts';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';
import { type ClientCertificateOptions, clientCertificate } from './client-certificate.ts';
import { type RequestHeaderOptions, requestHeader } from './request-header.ts';
import type { TokenCacheMetrics } from './metrics.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';
import { firstOf, firstTokenOf, orElse, withAuthenticatedGroup } from './union.ts';

export interface AuthenticationOptions {
  /** `--requestheader-client-ca-file` and its kin; absent where there is no such authority. */
  requestHeader?: RequestHeaderOptions;
  /** `--client-ca-file`; absent where there is none. */
  clientCertificates?: ClientCertificateOptions;
  /** `--basic-auth-file`; absent where there is none. */
  passwords?: Authenticator;
  /** In the order in which they are asked: loopback, token file, and what else there is. */
  tokens: readonly TokenAuthenticator[];
  /** Told of every token that is asked for. */
  tokenCache?: TokenCacheMetrics;
  /** `--anonymous-auth`; `paths` limits it where there are any. Absent: requests without credentials are refused. */
  anonymous?: { paths: readonly string[] };
}

/** All mechanisms in upstream's order (pkg/kubeapiserver/authenticator): front proxy, certificate, password, tokens, then anonymous if nothing was wrong. */
export function createAuthenticator(options: AuthenticationOptions): Authenticator {
  const mechanisms: Authenticator[] = [];
  if (options.requestHeader !== undefined) mechanisms.push(requestHeader(options.requestHeader));
  if (options.clientCertificates !== undefined) mechanisms.push(clientCertificate(options.clientCertificates));
  if (options.passwords !== undefined) mechanisms.push(options.passwords);
  if (options.tokens.length > 0) {
    const all = firstTokenOf(options.tokens);
    const tokens = options.tokenCache ? countedTokens(all, options.tokenCache) : all;
    mechanisms.push(bearerToken(tokens), webSocketToken(tokens));
  }
  const credentials = withAuthenticatedGroup(firstOf(mechanisms));
  return options.anonymous === undefined ? credentials : orElse(credentials, anonymous(options.anonymous.paths));
}

/** Answers that are at hand are hits; those that have to be waited for, since a signature is verified or somebody is asked, are misses. */
const countedTokens = (tokens: TokenAuthenticator, cache: TokenCacheMetrics): TokenAuthenticator => ({
  authenticateToken(token, audiences, context) {
    const startMs = performance.now();
    const found = tokens.authenticateToken(token, audiences, context);
    if (!(found instanceof Promise)) {
      cache.asked(true, performance.now() - startMs);
      return found;
    }
    const fetched = cache.fetching();
    const count = (isSuccess: boolean): void => {
      fetched(isSuccess);
      cache.asked(false, performance.now() - startMs);
    };
    found.then(
      () => count(true),
      () => count(false),
    );
    return found;
  },
});

const SOMEBODY: Authentication = { user: ANONYMOUS };

/** Requests that carry no credentials are system:anonymous: all of them, or only those for `paths` where there are any. */
function anonymous(paths: readonly string[] = []): Authenticator {
  if (paths.length === 0) return { authenticate: () => SOMEBODY };
  const allowed = new Set(paths);
  return { authenticate: ({ info }) => (allowed.has(info.path) ? SOMEBODY : undefined) };
}
