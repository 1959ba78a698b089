import { countWeakCertificates } from '../serving/weak-certificates.ts';
import { readFileSync } from 'node:fs';
import type { TokenReader } from '../apis/authentication/reviews.ts';
import type { AnonymousConfiguration, AuthenticationConfiguration, JwtConfiguration } from '../authentication/authentication-configuration.ts';
import { type AuthenticationFile, openAuthenticationFile } from '../authentication/authentication-file.ts';
import { loadBasicAuthFile } from '../authentication/basic-auth.ts';
import { bootstrapTokens } from '../authentication/bootstrap-token.ts';
import { createAuthenticator } from '../authentication/chain.ts';
import { type ExpressionCompiler, noExpressions } from '../authentication/expressions.ts';
import { withImplicitAudiences } from '../authentication/implicit-audiences.ts';
import { SIGNING_ALGORITHMS } from '../authentication/jwt.ts';
import { JwtAuthenticators } from '../authentication/jwt-authenticators.ts';
import { LegacyServiceAccountTokens } from '../authentication/legacy-service-account.ts';
import { type AuthenticationMetrics, registerAuthenticationMetrics } from '../authentication/metrics.ts';
import type { PublicKeySource } from '../authentication/public-keys.ts';
import type { RequestHeaderOptions } from '../authentication/request-header.ts';
import { ServiceAccountTokens } from '../authentication/service-account.ts';
import type { TokenAuthenticator } from '../authentication/token-authenticator.ts';
import { loadTokenFile } from '../authentication/token-file.ts';
import { tokenWebhook } from '../authentication/token-webhook.ts';
import { firstTokenOf, inAuthenticatedGroup } from '../authentication/union.ts';
import { validateAuthenticationConfiguration } from '../authentication/validate-configuration.ts';
import type { Client } from '../client/client.ts';
import { loadKubeconfig } from '../client/kubeconfig.ts';
import { WebhookClient } from '../client/webhook-client.ts';
import type { Authenticator } from '../server/authenticator.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { Reloadable } from '../serving/certificates/reload.ts';
import { summarize } from '../api/field-errors.ts';
import type { Dial } from '../net/dial.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { observedReloads } from './config-reloads.ts';
import type { Egress } from './egress.ts';
import type { EgressName } from './egress-configuration.ts';
import type { Logger } from './logger.ts';
import { serverId } from './server-id.ts';
import type { ServingFiles } from './serving-files.ts';

/** Who asks, as the options have it. */
export interface OpenAuthentication {
  authenticator: Authenticator;
  readToken: TokenReader;
  close(): void;
}

interface AuthenticationParts {
  logger: Logger;
  files: ServingFiles;
  client: Client;
  registry: MetricRegistry;
  egress: Egress | undefined;
  publicKeys: PublicKeySource;
  now(): Date;
}

/** Reads all files that the options name; throws a CommandError where one cannot be used. Nothing is authenticated before the stores are open. */
export async function openAuthentication(options: CompletedOptions, parts: AuthenticationParts): Promise<OpenAuthentication> {
  const closers: (() => void)[] = [];
  try {
    // Only a file can have expressions; the language is loaded for it alone.
    const compile = options.authenticationConfig === '' ? noExpressions : (await import('../authentication/claim-expressions.ts')).compileClaimExpression;
    const file = options.authenticationConfig === '' ? undefined : await openConfigurationFile(options, compile, parts);
    const tellsKeys = options.featureGates.isEnabled('StructuredAuthenticationConfigurationJWKSMetrics');
    const metrics = registerAuthenticationMetrics(parts.registry, { serverId: serverId(options.featureGates), tellsKeys });
    if (file) closers.push(() => file.close());
    const jwt = jwtAuthenticators(options, file, compile, parts, metrics);
    if (jwt) closers.push(() => jwt.close());
    const webhook = await webhookTokens(options, metrics, parts);
    if (webhook) closers.push(() => webhook.close());
    const tokens = [
      ...localTokens(options, parts, metrics),
      ...(jwt ? [withImplicitAudiences(jwt, options.apiAudiences)] : []),
      ...(webhook ? [webhook.tokens] : []),
    ];
    const authenticator = createAuthenticator({
      tokens,
      tokenCache: metrics.tokenCache,
      ...requestHeaderOptions(options, parts.files),
      ...(parts.files.clientCa && {
        clientCertificates: {
          authorities: authoritiesOf(parts.files.clientCa),
          readsUid: options.featureGates.isEnabled('AllowParsingUserUIDFromCertAuth'),
          observe: metrics.clientCertificate,
        },
      }),
      ...(options.basicAuthFile !== '' && { passwords: loadBasicAuthFile(options.basicAuthFile) }),
      ...anonymousOptions(options, file?.configuration.anonymous),
    });
    return { authenticator, readToken: tokenReader(tokens, options.apiAudiences), close: () => closers.forEach((close) => close()) };
  } catch (error) {
    closers.forEach((close) => close());
    throw new CommandError((error as Error).message);
  }
}

/** Those that ask nobody outside; upstream's order, but for the legacy tokens, which are rarer than the bound ones. */
function localTokens(
  options: CompletedOptions,
  { logger, client, publicKeys, now }: AuthenticationParts,
  { serviceAccountTokens: metrics }: AuthenticationMetrics,
): TokenAuthenticator[] {
  const { apiAudiences } = options;
  const signed = { publicKeys, apiAudiences, client, now };
  const warn = (message: string): void => logger.warn(message);
  const fromFile = options.tokenAuthFile === '' ? [] : [withImplicitAudiences(loadTokenFile(options.tokenAuthFile, warn), apiAudiences)];
  const report = (error: unknown): void => logger.warn('The last use of a service account token could not be noted on its secret', { error });
  return [
    ...fromFile,
    new ServiceAccountTokens({ ...signed, metrics, issuers: options.serviceAccountIssuer }),
    new LegacyServiceAccountTokens({ ...signed, metrics, isLookedUp: options.serviceAccountLookup, report }),
    ...(options.enableBootstrapTokenAuth ? [withImplicitAudiences(bootstrapTokens(client, now), apiAudiences)] : []),
  ];
}

function openConfigurationFile(options: CompletedOptions, compile: ExpressionCompiler, { logger, registry }: AuthenticationParts): Promise<AuthenticationFile> {
  return openAuthenticationFile(options.authenticationConfig, {
    disallowedIssuers: options.serviceAccountIssuer,
    allowsEgressSelector: options.featureGates.isEnabled('StructuredAuthenticationConfigurationEgressSelector'),
    compile,
    ...observedReloads(registry, logger, 'authentication', serverId(options.featureGates)),
  });
}

/** From the file, or from --oidc-*; undefined where there is neither. */
function jwtAuthenticators(
  options: CompletedOptions,
  file: AuthenticationFile | undefined,
  compile: ExpressionCompiler,
  { logger, egress }: AuthenticationParts,
  metrics: AuthenticationMetrics,
): JwtAuthenticators | undefined {
  const configuration = file?.configuration ?? oidcConfiguration(options);
  if (!configuration) return undefined;
  const jwt = new JwtAuthenticators(configuration.jwt ?? [], {
    algorithms: file ? SIGNING_ALGORITHMS : options.oidcSigningAlgs,
    compile,
    report: (error) => logger.error('An OpenID issuer cannot be reached and will be tried again', { error }),
    metrics,
    dialFor: (name) => dialForIssuer(egress, name),
  });
  file?.onChange((next) => jwt.replace(next));
  return jwt;
}

/** Whoever names a way to an issuer means it: there must be one (plugin/pkg/authenticator/token/oidc, egressLookupForType). */
function dialForIssuer(egress: Egress | undefined, name: EgressName): Dial {
  if (!egress) throw new Error(`oidc: egress lookup required with egress selector type ${JSON.stringify(name)}`);
  const dial = egress[name];
  if (!dial) throw new Error(`oidc: egress lookup for ${JSON.stringify(name)} is not configured`);
  return dial;
}

/** --oidc-* say what a configuration of one issuer says (kubeapiserver/options/authentication.go). */
function oidcConfiguration(options: CompletedOptions): AuthenticationConfiguration | undefined {
  const { oidcIssuerUrl: url, oidcClientId: clientId, oidcUsernameClaim, oidcUsernamePrefix, oidcGroupsClaim, oidcCaFile } = options;
  if (url === '' || clientId === '') return undefined;
  const unknown = options.oidcSigningAlgs.find((algorithm) => !SIGNING_ALGORITHMS.includes(algorithm));
  if (unknown !== undefined) throw new Error(`oidc: unsupported signing alg: ${JSON.stringify(unknown)}`);
  const defaultPrefix = oidcUsernameClaim === 'email' ? '' : `${url}#`;
  const jwt: JwtConfiguration = {
    issuer: { url, audiences: [clientId], ...(oidcCaFile !== '' && { certificateAuthority: readFileSync(oidcCaFile, 'utf8') }) },
    claimMappings: {
      username: { claim: oidcUsernameClaim, prefix: oidcUsernamePrefix === '-' ? '' : oidcUsernamePrefix || defaultPrefix },
      ...(oidcGroupsClaim !== '' && { groups: { claim: oidcGroupsClaim, prefix: options.oidcGroupsPrefix } }),
    },
    claimValidationRules: [...options.oidcRequiredClaim].map(([claim, requiredValue]) => ({ claim, requiredValue })),
  };
  const configuration = { jwt: [jwt] };
  const errors = validateAuthenticationConfiguration(configuration, {
    disallowedIssuers: options.serviceAccountIssuer,
    allowsEgressSelector: false,
    compile: noExpressions,
  });
  if (!errors.isEmpty) throw new Error(`invalid authentication configuration: ${summarize(errors.list)}`);
  return configuration;
}

const REVIEW_VERSIONS = new Set(['v1', 'v1beta1']);

async function webhookTokens(
  options: CompletedOptions,
  { tokenCache }: AuthenticationMetrics,
  { registry, logger, egress }: AuthenticationParts,
): Promise<{ tokens: TokenAuthenticator; close(): void } | undefined> {
  const { authenticationTokenWebhookConfigFile: path, authenticationTokenWebhookVersion: version } = options;
  if (path === '') return undefined;
  if (!REVIEW_VERSIONS.has(version))
    throw new Error(`unsupported authentication webhook version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`);
  const onWeakCertificate = countWeakCertificates(registry, 'webhooks', (message) => logger.info(message));
  const client = new WebhookClient(await loadKubeconfig(path), { dial: egress?.controlplane, onWeakCertificate });
  const tokens = tokenWebhook({
    client,
    version,
    apiAudiences: options.apiAudiences,
    cacheTtlMs: options.authenticationTokenWebhookCacheTtlMs,
    metrics: tokenCache,
  });
  return { tokens, close: () => client.close() };
}

/** The flag and the file are not to be given both: it would not be plain which of them counts. */
function anonymousOptions(options: CompletedOptions, fromFile: AnonymousConfiguration | undefined): { anonymous?: { paths: string[] } } {
  if (!fromFile) return options.anonymousAuth ? { anonymous: { paths: [] } } : {};
  if (options.given.has('anonymous-auth'))
    throw new Error('anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file');
  return fromFile.enabled ? { anonymous: { paths: (fromFile.conditions ?? []).map(({ path = '' }) => path) } } : {};
}

function requestHeaderOptions(options: CompletedOptions, { requestHeaderCa }: ServingFiles): { requestHeader?: RequestHeaderOptions } {
  if (!requestHeaderCa) return {};
  return {
    requestHeader: {
      authorities: authoritiesOf(requestHeaderCa),
      allowedNames: options.requestheaderAllowedNames,
      usernameHeaders: options.requestheaderUsernameHeaders,
      uidHeaders: options.requestheaderUidHeaders,
      groupHeaders: options.requestheaderGroupHeaders,
      extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
    },
  };
}

/** The same array until the file changes: what was found for a connection holds so long. */
function authoritiesOf(bundle: Reloadable<string>): () => readonly string[] {
  let authorities = [bundle.current];
  bundle.onChange(() => (authorities = [bundle.current]));
  return () => authorities;
}

const INVALID = 'invalid bearer token';

/** As a request that carried the token would be taken. The reference asks for its own token apart, so that complaint stands before any other. */
function tokenReader(tokens: readonly TokenAuthenticator[], apiAudiences: readonly string[]): TokenReader {
  const all = firstTokenOf(tokens);
  const read = async (token: string, audiences: readonly string[]) => {
    try {
      return await all.authenticateToken(token, audiences);
    } catch (error) {
      throw new Error(`[${INVALID}, ${(error as Error).message}]`, { cause: error });
    }
  };
  return async (token, audiences) => {
    const found = await read(token, audiences.length > 0 ? audiences : apiAudiences);
    if (!found) throw new Error(INVALID);
    return inAuthenticatedGroup(found);
  };
}
