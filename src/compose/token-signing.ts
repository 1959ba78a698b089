import { createPublicKey } from 'node:crypto';
import { keyId, signJwt } from '../authentication/jwt.ts';
import { FixedPublicKeys, type PublicKeySource } from '../authentication/public-keys.ts';
import type { TokenIssuerOptions } from '../kube/actions/token-request.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { formatDuration } from '../util/duration.ts';
import type { Foundation } from './foundation.ts';
import type { Logger } from './logger.ts';
import { type ServiceAccountKeySource, openServiceAccountKeys } from './signing-keys.ts';

/** Who signs service account tokens, and by which keys they are verified. */
export interface TokenSigning {
  publicKeys: PublicKeySource;
  /** Undefined where this server issues no tokens. */
  tokenIssuer: TokenIssuerOptions | undefined;
  /** Makes a key that is still to be made, before somebody waits for it. */
  makeAhead(): void;
}

/** With the keys of files, or with the external signer of --service-account-signing-endpoint. Throws CommandError. */
export const openTokenSigning = (foundation: Foundation): TokenSigning | Promise<TokenSigning> =>
  foundation.options.serviceAccountSigningEndpoint === '' ? openOwnSigning(foundation) : openExternalSigning(foundation);

function openOwnSigning(foundation: Foundation): TokenSigning {
  const { options, logger, stop } = foundation;
  const keys = loggingFailures(foundation, openServiceAccountKeys(options, stop));
  const maxLifetimeMs = options.serviceAccountMaxTokenExpirationMs;
  if (options.serviceAccountExtendTokenExpiration) warnIfShort(logger, maxLifetimeMs, OWN_WARNINGS);
  return {
    publicKeys: new FixedPublicKeys(async () => (await keys()).verification),
    tokenIssuer: options.serviceAccountSigningKeyFile === '' ? undefined : issuer(options, (claims) => signWith(keys, claims), maxLifetimeMs, Infinity),
    makeAhead: () => void keys().catch(() => undefined),
  };
}

/** Most servers have none, and need not load what it takes. */
async function openExternalSigning({ options, logger, registry, closers, now }: Foundation): Promise<TokenSigning> {
  const [{ openExternalSigner }, { registerSignerMetrics }] = await Promise.all([
    import('../kube/external-signer/signer.ts'),
    import('../kube/external-signer/metrics.ts'),
  ]);
  const signer = await openExternalSigner(options.serviceAccountSigningEndpoint, {
    observer: registerSignerMetrics(registry, () => now().getTime()),
    report: (error) => logger.error('The keys of the external signer of service account tokens could not be fetched; those from before are used', { error }),
    signTimeoutMs: options.requestTimeoutMs,
  }).catch((error: Error) => {
    throw new CommandError(error.message);
  });
  closers.add(() => signer.close());
  const maxLifetimeMs = lifetimeWithin(options.serviceAccountMaxTokenExpirationMs, signer.maxTokenExpirationSeconds * 1000);
  if (options.serviceAccountExtendTokenExpiration) warnIfShort(logger, maxLifetimeMs, EXTERNAL_WARNINGS);
  return {
    publicKeys: signer.publicKeys,
    tokenIssuer: issuer(options, (claims, signal) => signer.sign(claims, signal), maxLifetimeMs, signer.maxTokenExpirationSeconds),
    makeAhead: () => undefined,
  };
}

/** The longest lifetime where the signer has a limit too. */
function lifetimeWithin(flagMs: number, signerMs: number): number {
  if (flagMs <= signerMs) return flagMs === 0 ? signerMs : flagMs;
  throw new CommandError(
    `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${formatDuration(flagMs)} > ${formatDuration(signerMs)}`,
  );
}

/** What admission asks for in the volume of every pod, and what such a token really holds for (KEP-1205). */
const INJECTED_LIFETIME_SECONDS = 3607;
const EXTENDED_LIFETIME_SECONDS = 365 * 24 * 3600;

const issuer = (options: CompletedOptions, sign: TokenIssuerOptions['sign'], maxLifetimeMs: number, maxExtendedSeconds: number): TokenIssuerOptions => ({
  issuer: options.serviceAccountIssuer[0]!,
  sign,
  apiAudiences: options.apiAudiences,
  maxLifetimeSeconds: Math.floor(maxLifetimeMs / 1000),
  extendedLifetimeSeconds: options.serviceAccountExtendTokenExpiration ? Math.min(EXTENDED_LIFETIME_SECONDS, maxExtendedSeconds) : 0,
});

interface LifetimeWarnings {
  noTransition: string;
  extended: string;
}

const OWN_WARNINGS: LifetimeWarnings = {
  noTransition: `service-account-extend-token-expiration is true, in order to correctly trigger safe transition logic, service-account-max-token-expiration must be set longer than ${INJECTED_LIFETIME_SECONDS} seconds`,
  extended: `service-account-extend-token-expiration is true, enabling tokens valid up to ${EXTENDED_LIFETIME_SECONDS} seconds, which is longer than service-account-max-token-expiration`,
};
const EXTERNAL_WARNINGS: LifetimeWarnings = {
  noTransition: `service-account-extend-token-expiration is true, in order to correctly trigger safe transition logic, token lifetime supported by external-jwt-signer must be longer than ${INJECTED_LIFETIME_SECONDS} seconds`,
  extended: `service-account-extend-token-expiration is true, tokens validity will be caped at the smaller of ${EXTENDED_LIFETIME_SECONDS} seconds and maximum token lifetime supported by external-jwt-signer`,
};

function warnIfShort(logger: Logger, maxLifetimeMs: number, warnings: LifetimeWarnings): void {
  if (maxLifetimeMs === 0) return;
  const limit = formatDuration(maxLifetimeMs);
  if (maxLifetimeMs < INJECTED_LIFETIME_SECONDS * 1000) logger.warn(warnings.noTransition, { limit });
  if (maxLifetimeMs < EXTENDED_LIFETIME_SECONDS * 1000) logger.warn(warnings.extended, { limit });
}

async function signWith(keys: ServiceAccountKeySource, claims: object): Promise<string> {
  try {
    const { signing } = await keys();
    return await signJwt(signing!, keyId(createPublicKey(signing!)), claims);
  } catch (error) {
    // What went wrong is in the log; a key's file is not for clients to know.
    throw new Error('the signing key cannot be used', { cause: error });
  }
}

/** Whoever asks for a token is not told what is wrong with a key. */
const loggingFailures =
  ({ logger, stop }: Foundation, keys: ServiceAccountKeySource): ServiceAccountKeySource =>
  () =>
    keys().catch((error: unknown) => {
      if (!stop.aborted) logger.error('The keys of service account tokens cannot be used', { error });
      throw error;
    });
