import type { KeyObject } from 'node:crypto';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import { type OpenAuthentication, openAuthentication } from './authentication.ts';
import { type OpenAuthorizers, openAuthorizers } from './authorization.ts';
import type { CompletedOptions } from '../options/completion.ts';
import type { Foundation } from './foundation.ts';
import { type ServiceAccountKeySource, openServiceAccountKeys } from './signing-keys.ts';

/** Who is let in, as far as flags and files say it: what roles and tokens are stored is not known before the stores are open. */
export interface AccessFiles {
  keys: ServiceAccountKeySource;
  verificationKeys(): Promise<readonly KeyObject[]>;
  /** Undefined where this server issues no tokens. */
  tokenIssuer: TokenIssuerOptions | undefined;
  authentication: OpenAuthentication;
  authorizers: OpenAuthorizers;
  /** Whether RBAC is among the authorizers: without it nobody needs its policy. */
  isRbacOn: boolean;
}

/** Reads the keys of tokens and the files of authentication and authorization. Throws CommandError. */
export async function openAccess(foundation: Foundation): Promise<AccessFiles> {
  const { options, logger, registry, egress, closers } = foundation;
  const keys = loggingFailures(foundation, openServiceAccountKeys(options, foundation.stop));
  const verificationKeys = async (): Promise<readonly KeyObject[]> => (await keys()).verification;
  const authentication = await openAuthentication(options, { ...foundation, verificationKeys });
  closers.add(() => authentication.close());
  const authorizers = await openAuthorizers(options, logger, registry, egress?.controlplane);
  closers.add(() => authorizers.close());
  return {
    keys,
    verificationKeys,
    tokenIssuer: tokenIssuer(options, keys),
    authentication,
    authorizers,
    isRbacOn: authorizers.prepared.chain.some(({ type }) => type === 'RBAC'),
  };
}

/** Whoever asks for a token is not told what is wrong with a key. */
const loggingFailures =
  ({ logger, stop }: Foundation, keys: ServiceAccountKeySource): ServiceAccountKeySource =>
  () =>
    keys().catch((error: unknown) => {
      if (!stop.aborted) logger.error('The keys of service account tokens cannot be used', { error });
      throw error;
    });

function tokenIssuer(options: CompletedOptions, keys: ServiceAccountKeySource): TokenIssuerOptions | undefined {
  if (options.serviceAccountSigningKeyFile === '') return undefined;
  return {
    issuer: options.serviceAccountIssuer[0]!,
    signingKey: async () => (await keys()).signing!,
    apiAudiences: options.apiAudiences,
    maxLifetimeSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendsPodTokens: options.serviceAccountExtendTokenExpiration,
  };
}
