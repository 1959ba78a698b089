import type { Draft } from './completion.ts';
import type { FlagName } from './flags/options.ts';

export function* validateAuthentication(options: Draft): Generator<string> {
  yield* validateOidc(options);
  yield* validateServiceAccounts(options);
  yield* validateRequestHeader(options);
  yield* validateSigning(options);
}

function* validateOidc({ given, authenticationConfig, oidcIssuerUrl, oidcClientId }: Draft): Generator<string> {
  if (![...given].some((name) => name.startsWith('oidc-'))) return;
  if (authenticationConfig !== '') yield 'authentication-config file and oidc-* flags are mutually exclusive';
  else if (oidcIssuerUrl === '' || oidcClientId === '') yield 'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set';
}

function* validateServiceAccounts(options: Draft): Generator<string> {
  const { serviceAccountIssuer: issuers, serviceAccountJwksUri: jwksUri } = options;
  for (const [index, issuer] of issuers.entries()) {
    if (issuer === '') yield 'service-account-issuer should not be an empty string';
    else if (issuer.includes(':') && !URL.canParse(issuer)) yield `service-account-issuer ${JSON.stringify(issuer)} contained a ':' but was not a valid URL`;
    else if (issuers.indexOf(issuer) < index) yield `service-account-issuer ${JSON.stringify(issuer)} is already specified`;
  }
  if (issuers.length === 0) yield 'service-account-issuer is a required flag';
  if (options.serviceAccountKeyFile.length === 0 && options.serviceAccountSigningEndpoint === '') {
    yield 'either `--service-account-key-file` or `--service-account-signing-endpoint` must be set';
  }
  if (jwksUri === '') return;
  if (!URL.canParse(jwksUri)) yield `service-account-jwks-uri must be a valid URL: ${JSON.stringify(jwksUri)}`;
  else if (new URL(jwksUri).protocol !== 'https:') yield `service-account-jwks-uri requires https scheme, parsed as: ${jwksUri}`;
}

function* validateRequestHeader(options: Draft): Generator<string> {
  const lists: readonly (readonly [FlagName, readonly string[]])[] = [
    ['requestheader-username-headers', options.requestheaderUsernameHeaders],
    ['requestheader-group-headers', options.requestheaderGroupHeaders],
    ['requestheader-extra-headers-prefix', options.requestheaderExtraHeadersPrefix],
    ['requestheader-allowed-names', options.requestheaderAllowedNames],
    ['requestheader-uid-headers', options.requestheaderUidHeaders],
  ];
  for (const [flag, values] of lists) if (values.some((value) => value.trim() === '')) yield `empty value in ${JSON.stringify(flag)}`;
  const uidHeaders = options.requestheaderUidHeaders;
  if (uidHeaders.length > 0 && !options.featureGates.isEnabled('RemoteRequestHeaderUID')) {
    yield '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled';
    return;
  }
  if (uidHeaders.length > 0 && !uidHeaders.some((header) => header.toLowerCase() === 'x-remote-uid')) {
    yield '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work';
  }
}

const HOUR_MS = 3_600_000;
const MAX_TOKEN_LIFETIME_MS = 2 ** 32 * 1000;

function* validateSigning(options: Draft): Generator<string> {
  const { serviceAccountSigningEndpoint: endpoint, serviceAccountSigningKeyFile: keyFile, serviceAccountMaxTokenExpirationMs: maxLifetimeMs } = options;
  if (maxLifetimeMs !== 0 && (maxLifetimeMs < HOUR_MS || maxLifetimeMs > MAX_TOKEN_LIFETIME_MS))
    yield 'the service-account-max-token-expiration must be between 1 hour and 2^32 seconds';
  if (endpoint === '') {
    if (keyFile === '') yield '--service-account-signing-key-file and --service-account-issuer are required flags';
    return;
  }
  if (keyFile !== '') yield 'service-account-signing-key-file and service-account-signing-endpoint are mutually exclusive and cannot be set at the same time';
  else if (options.serviceAccountKeyFile.length > 0) {
    yield "can't set `--service-account-signing-key-file` and/or `--service-account-key-file` with `--service-account-signing-endpoint` (They are mutually exclusive)";
  }
  if (endpoint.startsWith('@') && !/^@([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+$/.test(endpoint)) {
    yield `invalid value ${JSON.stringify(endpoint)} passed for \`--service-account-signing-endpoint\`, when prefixed with @ must be a valid abstract socket name`;
  }
}

const AUTHORIZATION_MODES = new Set(['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node']);

/** Flags that the configuration file takes the place of. */
const LEGACY_FLAGS: readonly FlagName[] = [
  'authorization-mode',
  'authorization-webhook-config-file',
  'authorization-webhook-version',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
];

export function* validateAuthorization(options: Draft): Generator<string> {
  const { authorizationMode: modes, authorizationPolicyFile: policyFile, authorizationWebhookConfigFile: webhookFile } = options;
  if (options.authorizationConfig !== '') {
    if (LEGACY_FLAGS.some((flag) => options.given.has(flag))) {
      yield '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined';
    }
    return;
  }
  for (const mode of modes) {
    if (!AUTHORIZATION_MODES.has(mode)) yield `authorization-mode ${JSON.stringify(mode)} is not a valid mode`;
    if (mode === 'ABAC' && policyFile === '') yield "authorization-mode ABAC's authorization policy file not passed";
    if (mode === 'Webhook' && webhookFile === '') yield "authorization-mode Webhook's authorization config file not passed";
  }
  if (policyFile !== '' && !modes.includes('ABAC')) yield 'cannot specify --authorization-policy-file without mode ABAC';
  if (webhookFile !== '' && !modes.includes('Webhook')) yield 'cannot specify --authorization-webhook-config-file without mode Webhook';
  if (new Set(modes).size !== modes.length)
    yield `authorization-mode [${modes.map((mode) => JSON.stringify(mode)).join(' ')}] has mode specified more than once`;
}
