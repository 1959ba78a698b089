import type { MetricRegistry } from '../server/metrics/registry.ts';
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

const LATENCY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** apiserver_authentication_jwt_* and authentication_token_cache_* (…/authenticator/token/oidc/metrics.go, apiserver/pkg/authentication/token/cache/stats.go). */
export function registerAuthenticationMetrics(registry: MetricRegistry, { serverId, tellsKeys }: AuthenticationMetricsOptions): AuthenticationMetrics {
  return { jwt: registerJwt(registry, labelHash(serverId), tellsKeys), tokenCache: registerTokenCache(registry) };
}

function registerJwt(registry: MetricRegistry, server: string, tellsKeys: boolean): (issuer: string) => JwtMetrics {
  const prefix = 'apiserver_authentication_jwt_authenticator_';
  const latency = registry.histogram({
    name: `${prefix}latency_seconds`,
    help: 'Seconds that looking at a token that was not remembered took.',
    stability: 'ALPHA',
    labels: ['result', 'jwt_issuer_hash'],
    buckets: LATENCY_BUCKETS,
  });
  const fetched = registry.gauge({
    name: `${prefix}jwks_fetch_last_timestamp_seconds`,
    help: 'When the keys of an issuer were last fetched, by whether they came.',
    stability: 'ALPHA',
    labels: ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
  });
  const keySets = registry.gauge({
    name: `${prefix}jwks_fetch_last_key_set_info`,
    help: 'The keys of an issuer that were fetched last, by their hash.',
    stability: 'ALPHA',
    labels: ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
  });
  /** The last key set of each issuer, by hashes: a family forgets only as a whole. */
  const current = new Map<string, string>();
  const printKeySets = (): void => {
    keySets.reset();
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
  const name = (suffix: string): string => `authentication_token_cache_${suffix}`;
  const labels = ['status'];
  const duration = registry.histogram({
    name: name('request_duration_seconds'),
    help: 'Seconds that finding a token took, in the cache or elsewhere.',
    stability: 'ALPHA',
    labels,
    buckets: DEFAULT_BUCKETS,
  });
  const requests = registry.counter({
    name: name('request_total'),
    help: 'Tokens that were asked for, by whether the cache had them.',
    stability: 'ALPHA',
    labels,
  });
  const fetches = registry.counter({ name: name('fetch_total'), help: 'Tokens that were looked up elsewhere.', stability: 'ALPHA', labels });
  const active = registry.gauge({ name: name('active_fetch_count'), help: 'Tokens that are being looked up, or waited for.', stability: 'ALPHA', labels });
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
