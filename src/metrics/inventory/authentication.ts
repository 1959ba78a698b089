import { counter, DEFAULT_BUCKETS, exponential, gauge, histogram } from '../declaration.ts';

const DOUBLING_BUCKETS = exponential(0.001, 2, 15);

/** Authentication, impersonation and service account tokens (apiserver/pkg/endpoints/filters/metrics.go, …/authentication/token/cache, pkg/serviceaccount/metrics.go). */
export const authenticationMetrics = {
  apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'BETA',
    'When the authentication configuration last changed, by whether it could be taken over.',
    ['status', 'apiserver_id_hash'],
  ),
  apiserver_authentication_config_controller_automatic_reloads_total: counter(
    'BETA',
    'Changes of the authentication configuration that were taken over, or could not be.',
    ['status', 'apiserver_id_hash'],
  ),
  apiserver_authentication_config_controller_last_config_info: gauge('ALPHA', 'The authentication configuration in use, by its hash.', [
    'apiserver_id_hash',
    'hash',
  ]),
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info: gauge('ALPHA', 'The keys of an issuer that were fetched last, by their hash.', [
    'jwt_issuer_hash',
    'apiserver_id_hash',
    'hash',
  ]),
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds: gauge(
    'ALPHA',
    'When the keys of an issuer were last fetched, by whether they came.',
    ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
  ),
  apiserver_authentication_jwt_authenticator_latency_seconds: histogram(
    'ALPHA',
    'Seconds that looking at a token that was not remembered took.',
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ['result', 'jwt_issuer_hash'],
  ),
  apiserver_client_certificate_expiration_seconds: histogram(
    'ALPHA',
    'Seconds that client certificates of requests were still valid for.',
    [0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000],
  ),
  apiserver_externaljwt_fetch_keys_data_timestamp: gauge('ALPHA', 'When the keys that the external signer told last were current, by its own account.', [], {
    isLazy: true,
  }),
  apiserver_externaljwt_fetch_keys_request_total: counter('ALPHA', 'How often the keys of the external signer were fetched, by gRPC code.', ['code']),
  apiserver_externaljwt_fetch_keys_success_timestamp: gauge('ALPHA', 'When the keys of the external signer were last fetched.', [], { isLazy: true }),
  apiserver_externaljwt_request_duration_seconds: histogram(
    'ALPHA',
    'Seconds that calls of the external signer took, by gRPC method and code.',
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    ['method', 'code'],
  ),
  apiserver_externaljwt_sign_request_total: counter('ALPHA', 'Tokens that the external signer was asked to sign, by gRPC code.', ['code']),
  apiserver_impersonation_attempts_duration_seconds: histogram('ALPHA', 'Seconds that impersonations took, by mode and decision.', DOUBLING_BUCKETS, [
    'mode',
    'decision',
  ]),
  apiserver_impersonation_attempts_total: counter('ALPHA', 'Impersonations, by mode and decision.', ['mode', 'decision']),
  apiserver_impersonation_authorization_attempts_duration_seconds: histogram(
    'ALPHA',
    'Seconds that the authorization of impersonations took, by mode and decision.',
    DOUBLING_BUCKETS,
    ['mode', 'decision'],
  ),
  apiserver_impersonation_authorization_attempts_total: counter('ALPHA', 'Authorizations of impersonations, by mode and decision.', ['mode', 'decision']),
  authenticated_user_requests: counter('ALPHA', 'Authenticated requests, by kind of user.', ['username']),
  authentication_attempts: counter('ALPHA', 'Authentications, by result.', ['result']),
  authentication_duration_seconds: histogram('ALPHA', 'Seconds that authentication took, by result.', DOUBLING_BUCKETS, ['result']),
  authentication_token_cache_active_fetch_count: gauge('ALPHA', 'Tokens that are being looked up, or waited for.', ['status'], { isPerProcess: true }),
  authentication_token_cache_fetch_total: counter('ALPHA', 'Tokens that were looked up elsewhere.', ['status']),
  authentication_token_cache_request_duration_seconds: histogram('ALPHA', 'Seconds that finding a token took, in the cache or elsewhere.', DEFAULT_BUCKETS, [
    'status',
  ]),
  authentication_token_cache_request_total: counter('ALPHA', 'Tokens that were asked for, by whether the cache had them.', ['status']),
  serviceaccount_invalid_legacy_auto_token_uses_total: counter('ALPHA', 'Requests with a generated token of a Secret that is marked invalid.'),
  serviceaccount_legacy_auto_token_uses_total: counter('ALPHA', 'Requests with a generated token of a Secret.'),
  serviceaccount_legacy_manual_token_uses_total: counter('ALPHA', 'Requests with a token of a Secret that somebody created.'),
  serviceaccount_legacy_tokens_total: counter('ALPHA', 'Requests with a token of a Secret.'),
  serviceaccount_stale_tokens_total: counter('ALPHA', 'Requests with a service account token that should have been renewed.'),
  serviceaccount_valid_tokens_total: counter('ALPHA', 'Requests with a valid service account token.'),
};
