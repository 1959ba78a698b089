import { ANONYMOUS } from '../api/user.ts';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';
import { type ClientCertificateOptions, clientCertificate } from './client-certificate.ts';
import { type RequestHeaderOptions, requestHeader } from './request-header.ts';
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
    const tokens = firstTokenOf(options.tokens);
    mechanisms.push(bearerToken(tokens), webSocketToken(tokens));
  }
  const credentials = withAuthenticatedGroup(firstOf(mechanisms));
  return options.anonymous === undefined ? credentials : orElse(credentials, anonymous(options.anonymous.paths));
}

const SOMEBODY: Authentication = { user: ANONYMOUS };

/** Requests that carry no credentials are system:anonymous: all of them, or only those for `paths` where there are any. */
function anonymous(paths: readonly string[] = []): Authenticator {
  if (paths.length === 0) return { authenticate: () => SOMEBODY };
  const allowed = new Set(paths);
  return { authenticate: ({ info }) => (allowed.has(info.path) ? SOMEBODY : undefined) };
}
