import type { Authenticator } from '../server/authenticator.ts';
import { anonymous } from './anonymous.ts';
import { bearerToken, webSocketToken } from './bearer-token.ts';
import { type ClientCertificateOptions, clientCertificate } from './client-certificate.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';
import { firstOf, firstTokenOf, orElse, withAuthenticatedGroup } from './union.ts';

export interface AuthenticationOptions {
  /** `--client-ca-file`; absent where there is none. */
  clientCertificates?: ClientCertificateOptions;
  /** In the order in which they are asked: loopback, token file, and what else there is. */
  tokens: readonly TokenAuthenticator[];
  /** `--anonymous-auth`; `paths` limits it where there are any. Absent: requests without credentials are refused. */
  anonymous?: { paths: readonly string[] };
}

/** All mechanisms in upstream's order (pkg/kubeapiserver/authenticator): certificate, tokens, then anonymous if nothing was wrong. */
export function createAuthenticator(options: AuthenticationOptions): Authenticator {
  const mechanisms: Authenticator[] = [];
  if (options.clientCertificates !== undefined) mechanisms.push(clientCertificate(options.clientCertificates));
  if (options.tokens.length > 0) {
    const tokens = firstTokenOf(options.tokens);
    mechanisms.push(bearerToken(tokens), webSocketToken(tokens));
  }
  const credentials = withAuthenticatedGroup(firstOf(mechanisms));
  return options.anonymous === undefined ? credentials : orElse(credentials, anonymous(options.anonymous.paths));
}
