import { quote } from '../util/go-quote.ts';
import type { Json } from '../encoding/json-types.ts';
import type { UnverifiedJwt } from './jwt.ts';
import type { OidcProvider } from './oidc-provider.ts';

const LEEWAY_MS = 60_000;

export interface IdTokenTerms {
  provider: OidcProvider;
  /** One of these must be among the token's. */
  audiences: readonly string[];
  /** Of RFC 7518. */
  algorithms: readonly string[];
}

/** Throws unless the provider has signed the token for one of the audiences, and for now. Messages are go-oidc's. */
export async function verifyIdToken(jwt: UnverifiedJwt, { provider, audiences, algorithms }: IdTokenTerms, nowMs: () => number): Promise<void> {
  await provider.verify(jwt, algorithms);
  checkAudience(texts(jwt.claims.aud), audiences);
  checkTimes(jwt, nowMs());
}

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

/** Of a NumericDate (RFC 7519 §2). */
export const secondsOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined;

const MAX_TIME_MS = 8.64e15;
const shownTime = (timeMs: number): string => (Math.abs(timeMs) <= MAX_TIME_MS ? new Date(timeMs).toISOString() : 'unknown');
