import type { MetricRegistry } from '../metrics/registry.ts';
import { labelHash } from '../api/server-identity.ts';

/** What a JWT authenticator tells of itself. */
export interface JwtMetrics {
  /** A token that was not remembered was looked at. */
  authenticated(isSuccess: boolean, durationMs: number): void;
  /** The issuer's keys as they came; undefined where they did not. */
  fetchedKeys(keySet: string | undefined): void;
  /** The issuer is no longer configured. */
  forget(): void;
}

/** What a cache of tokens tells of itself. */
export interface TokenCacheMetrics {
  asked(isHit: boolean, durationMs: number): void;
  /** A token is looked up elsewhere; the answer is to be called when that is over. */
  fetching(): (isSuccess: boolean) => void;
  /** A request waits for another's answer; the same. */
  blocked(): () => void;
}

export interface AuthenticationMetrics {
  jwt(issuer: string): JwtMetrics;
  tokenCache: TokenCacheMetrics;
}

export interface AuthenticationMetricsOptions {
  /** What this server is called; only its hash is told. */
  serverId: string;
  /** StructuredAuthenticationConfigurationJWKSMetrics */
  tellsKeys: boolean;
}

/** apiserver_authentication_jwt_* and authentication_token_cache_* (…/authenticator/token/oidc/metrics.go, apiserver/pkg/authentication/token/cache/stats.go). */
export function registerAuthenticationMetrics(registry: MetricRegistry, { serverId, tellsKeys }: AuthenticationMetricsOptions): AuthenticationMetrics {
  return { jwt: registerJwt(registry, labelHash(serverId), tellsKeys), tokenCache: registerTokenCache(registry) };
}

function registerJwt(registry: MetricRegistry, server: string, tellsKeys: boolean): (issuer: string) => JwtMetrics {
  const latency = registry.family('apiserver_authentication_jwt_authenticator_latency_seconds');
  const fetched = registry.family('apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds');
  const keySets = registry.family('apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info');
  /** The last key set of each issuer, by hashes: a family forgets only as a whole. */
  const current = new Map<string, string>();
  const printKeySets = (): void => {
    keySets.clear();
    for (const [issuer, hash] of current) keySets.with(issuer, server, hash).set(1);
  };
  return (issuerUrl) => {
    const issuer = labelHash(issuerUrl);
    return {
      authenticated: (isSuccess, durationMs) => latency.with(isSuccess ? 'success' : 'failure', issuer).observe(durationMs / 1000),
      fetchedKeys(keySet) {
        if (!tellsKeys) return;
        fetched.with(keySet === undefined ? 'failure' : 'success', issuer, server).set(Date.now() / 1000);
        if (keySet === undefined) return;
        current.set(issuer, labelHash(keySet));
        printKeySets();
      },
      forget() {
        current.delete(issuer);
        printKeySets();
      },
    };
  };
}

function registerTokenCache(registry: MetricRegistry): TokenCacheMetrics {
  const duration = registry.family('authentication_token_cache_request_duration_seconds');
  const requests = registry.family('authentication_token_cache_request_total');
  const fetches = registry.family('authentication_token_cache_fetch_total');
  const active = registry.family('authentication_token_cache_active_fetch_count');
  return {
    asked(isHit, durationMs) {
      const status = isHit ? 'hit' : 'miss';
      requests.with(status).inc();
      duration.with(status).observe(durationMs / 1000);
    },
    fetching() {
      active.with('in_flight').inc();
      return (isSuccess) => {
        fetches.with(isSuccess ? 'ok' : 'error').inc();
        active.with('in_flight').dec();
      };
    },
    blocked() {
      active.with('blocked').inc();
      return () => active.with('blocked').dec();
    },
  };
}
