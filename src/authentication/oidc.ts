import { hash, randomBytes } from 'node:crypto';
import type { Authentication } from '../server/authenticator.ts';
import { ExpiringCache } from '../util/expiring-cache.ts';
import { quote } from '../util/field-errors.ts';
import type { Json } from '../util/json-types.ts';
import type { ClaimReader } from './claims.ts';
import { type UnverifiedJwt, parseJwt } from './jwt.ts';
import type { OidcProvider } from './oidc-provider.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/** One issuer, and what its tokens are taken for. */
export interface OidcIssuer {
  url: string;
  audiences: readonly string[];
  provider: OidcProvider;
  readClaims: ClaimReader;
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
const LEEWAY_MS = 60_000;
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
    return issuer && this.#verify(digest, jwt, issuer);
  }

  async #verify(digest: string, jwt: UnverifiedJwt, { audiences, provider, readClaims }: OidcIssuer): Promise<Authentication> {
    if (!provider.isReady) throw new Error('oidc: authenticator not initialized');
    try {
      await provider.verify(jwt, this.#algorithms);
      checkAudience(texts(jwt.claims.aud), audiences);
      checkTimes(jwt, this.#nowMs());
    } catch (error) {
      throw new Error(`oidc: verify token: ${(error as Error).message}`, { cause: error });
    }
    const accepted: Authentication = { user: readClaims(jwt.claims) };
    this.#accepted.set(digest, accepted, Math.min(SUCCESS_TTL_MS, secondsOf(jwt.claims.exp)! * 1000 - this.#nowMs()));
    return accepted;
  }

  close(): void {
    for (const { provider } of this.#issuers.values()) provider.close();
  }
}

const issuerOf = ({ claims }: UnverifiedJwt): string => (claims.iss === GOOGLE ? `https://${GOOGLE}` : typeof claims.iss === 'string' ? claims.iss : '');

const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');
const quoted = (list: readonly string[]): string => `[${list.map(quote).join(' ')}]`;

function checkAudience(meant: readonly string[], wanted: readonly string[]): void {
  if (wanted.some((audience) => meant.includes(audience))) return;
  throw new Error(
    wanted.length === 1
      ? `oidc: expected audience ${quote(wanted[0]!)} got ${quoted(meant)}`
      : `oidc: expected audience in ${quoted(wanted.toSorted())} got ${quoted(meant)}`,
  );
}

/** A token that does not say when it ends has ended. */
function checkTimes({ claims }: UnverifiedJwt, nowMs: number): void {
  const expiresAtMs = (secondsOf(claims.exp) ?? 0) * 1000;
  if (!(expiresAtMs >= nowMs)) throw new Error(`oidc: token is expired (Token Expiry: ${shownTime(expiresAtMs)})`);
  if (claims.nbf === undefined || claims.nbf === null) return;
  const notBeforeMs = (secondsOf(claims.nbf) ?? Infinity) * 1000;
  if (nowMs + LEEWAY_MS < notBeforeMs) throw new Error(`oidc: current time ${shownTime(nowMs)} before the nbf (not before) time: ${shownTime(notBeforeMs)}`);
}

const secondsOf = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined);

const MAX_TIME_MS = 8.64e15;
const shownTime = (timeMs: number): string => (Math.abs(timeMs) <= MAX_TIME_MS ? new Date(timeMs).toISOString() : 'unknown');
