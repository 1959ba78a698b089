import { hash, randomBytes } from 'node:crypto';
import type { Authentication } from '../server/authenticator.ts';
import { ExpiringCache } from '../util/expiring-cache.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { ClaimReader } from './claims.ts';
import type { ClaimResolver } from './distributed-claims.ts';
import { secondsOf, verifyIdToken } from './id-token.ts';
import { type UnverifiedJwt, parseJwt } from './jwt.ts';
import type { JwtMetrics } from './metrics.ts';
import type { OidcProvider } from './oidc-provider.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/** One issuer, and what its tokens are taken for. */
export interface OidcIssuer {
  url: string;
  audiences: readonly string[];
  provider: OidcProvider;
  readClaims: ClaimReader;
  /** Finds the claim of groups where it is kept elsewhere; absent where groups come from no claim. */
  resolver?: ClaimResolver;
  metrics?: JwtMetrics | undefined;
}

export interface OidcOptions {
  issuers: readonly OidcIssuer[];
  /** Of RFC 7518. */
  algorithms: readonly string[];
  nowMs?(): number;
}

/** How long a token that was good is not looked at again (upstream's cache of tokens); its own end counts all the same. */
const SUCCESS_TTL_MS = 10_000;
const MAX_CACHED = 4096;
const MAX_TOKEN_LENGTH = 64 * 1024;
/** What Google once wrote in its tokens for the issuer https://accounts.google.com. */
const GOOGLE = 'accounts.google.com';

/** ID tokens of OpenID issuers (apiserver/plugin/pkg/authenticator/token/oidc). A token of an issuer that is not among these is not known here. */
export class OidcTokens implements TokenAuthenticator {
  readonly #issuers: ReadonlyMap<string, OidcIssuer>;
  readonly #algorithms: readonly string[];
  readonly #nowMs: () => number;
  readonly #accepted: ExpiringCache<Authentication>;
  readonly #cacheKey = randomBytes(32).toString('base64');

  constructor({ issuers, algorithms, nowMs = Date.now }: OidcOptions) {
    this.#issuers = new Map(issuers.map((issuer) => [issuer.url, issuer]));
    this.#algorithms = algorithms;
    this.#nowMs = nowMs;
    this.#accepted = new ExpiringCache(MAX_CACHED, nowMs);
  }

  authenticateToken(token: string): Authentication | undefined | Promise<Authentication> {
    if (this.#issuers.size === 0 || token.length > MAX_TOKEN_LENGTH || !token.includes('.')) return undefined;
    const digest = hash('sha256', this.#cacheKey + token, 'base64');
    const known = this.#accepted.get(digest);
    if (known) return known;
    const jwt = parseJwt(token);
    const issuer = jwt && this.#issuers.get(issuerOf(jwt));
    if (!issuer) return undefined;
    const verified = this.#verify(digest, jwt, issuer);
    return issuer.metrics ? timed(verified, issuer.metrics) : verified;
  }

  async #verify(digest: string, jwt: UnverifiedJwt, { audiences, provider, readClaims, resolver }: OidcIssuer): Promise<Authentication> {
    if (!provider.isReady) throw new Error('oidc: authenticator not initialized');
    try {
      await verifyIdToken(jwt, { provider, audiences, algorithms: this.#algorithms }, this.#nowMs);
    } catch (error) {
      throw new Error(`oidc: verify token: ${(error as Error).message}`, { cause: error });
    }
    const accepted: Authentication = { user: readClaims(resolver ? await expanded(jwt, resolver) : jwt.claims) };
    this.#accepted.set(digest, accepted, Math.min(SUCCESS_TTL_MS, secondsOf(jwt.claims.exp)! * 1000 - this.#nowMs()));
    return accepted;
  }

  close(): void {
    for (const { provider, resolver } of this.#issuers.values()) {
      resolver?.close();
      provider.close();
    }
  }
}

const issuerOf = ({ claims }: UnverifiedJwt): string => (claims.iss === GOOGLE ? `https://${GOOGLE}` : typeof claims.iss === 'string' ? claims.iss : '');

async function timed(verified: Promise<Authentication>, metrics: JwtMetrics): Promise<Authentication> {
  const startMs = performance.now();
  const record = (isSuccess: boolean): void => metrics.authenticated(isSuccess, performance.now() - startMs);
  try {
    const accepted = await verified;
    record(true);
    return accepted;
  } catch (error) {
    record(false);
    throw error;
  }
}

async function expanded({ claims }: UnverifiedJwt, resolver: ClaimResolver): Promise<JsonObject> {
  try {
    return await resolver.expand(claims);
  } catch (error) {
    throw new Error(`oidc: could not expand distributed claims: ${(error as Error).message}`, { cause: error });
  }
}
