import { countWeakCertificates } from '../serving/weak-certificates.ts';
import type { AuthorizationMode, AuthorizerConfiguration } from '../authorization/authorization-configuration.ts';
import { type AuthorizationFile, openAuthorizationFile } from '../authorization/authorization-file.ts';
import { noConditions } from '../authorization/match-conditions.ts';
import { type Authorization, type AuthorizerFilesOptions, type PreparedAuthorizers, createAuthorization, prepareAuthorizers } from '../authorization/modes.ts';
import { type AuthorizationMetrics, registerAuthorizationMetrics } from '../authorization/metrics.ts';
import { withHistoryReaders } from '../history/api/history-access.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import type { Dial } from '../net/dial.ts';
import type { AccessFiles } from './access.ts';
import { CommandError } from '../options/command-error.ts';
import type { CompletedOptions } from '../options/completion.ts';
import { observedReloads } from './config-reloads.ts';
import type { Foundation } from './foundation.ts';
import type { Logger } from './logger.ts';
import type { ObjectStores } from './object-stores.ts';
import { serverId } from './server-id.ts';

/** The chain of authorizers that the options ask for, as far as files say it. */
export interface OpenAuthorizers {
  prepared: PreparedAuthorizers;
  metrics: AuthorizationMetrics;
  /** Keeps an authorization that was made of it as the file is, where there is one. */
  follow(authorization: Authorization): void;
  close(): void;
}

/** Throws a CommandError where a file cannot be read or used. `dial`: the way to webhooks. */
export async function openAuthorizers(options: CompletedOptions, logger: Logger, registry: MetricRegistry, dial: Dial | undefined): Promise<OpenAuthorizers> {
  const metrics = registerAuthorizationMetrics(registry);
  let file: AuthorizationFile | undefined;
  try {
    // Only a file can have conditions; the expression language is loaded for it alone.
    const compile = options.authorizationConfig === '' ? noConditions : (await import('../authorization/request-expressions.ts')).compileCondition;
    file =
      options.authorizationConfig === ''
        ? undefined
        : await openAuthorizationFile(options.authorizationConfig, {
            compile,
            ...observedReloads(registry, logger, 'authorization', serverId(options.featureGates)),
          });
    const authorizers = file?.authorizers ?? options.authorizationMode.map((mode) => fromFlags(mode as AuthorizationMode, options));
    const filesOptions: AuthorizerFilesOptions = {
      policyFile: options.authorizationPolicyFile,
      compile,
      warn: (message) => logger.warn(message),
      metrics,
      dial,
      onWeakCertificate: countWeakCertificates(registry, 'webhooks', (message) => logger.info(message)),
    };
    const prepared = await prepareAuthorizers(authorizers, filesOptions);
    return {
      prepared,
      metrics,
      follow: (authorization) => file?.onChange(async (next) => authorization.replace(await prepareAuthorizers(next, filesOptions))),
      close: () => file?.close(),
    };
  } catch (error) {
    file?.close();
    throw new CommandError((error as Error).message);
  }
}

/** BuildAuthorizer: the chain of authorizers over the roles, bindings and nodes that are stored; follows its configuration file. */
export function buildAuthorization(
  { client, isEnabled, closers, keeping }: Foundation,
  { authorizers }: AccessFiles,
  { authorizer }: ObjectStores,
): Authorization {
  const own = createAuthorization(authorizers.prepared, { client, isEnabled, metrics: authorizers.metrics });
  const authorization = keeping ? { ...own, authorizer: withHistoryReaders(own.authorizer) } : own;
  authorizer.provide(authorization.authorizer);
  closers.add(() => authorization.close());
  authorizers.follow(authorization);
  return authorization;
}

const REVIEW_VERSIONS = new Set(['v1', 'v1beta1']);

/** --authorization-* say what a configuration file says (kubeapiserver/options/authorization.go). */
function fromFlags(mode: AuthorizationMode, options: CompletedOptions): AuthorizerConfiguration {
  if (mode !== 'Webhook') return { type: mode, name: mode.toLowerCase() };
  const version = options.authorizationWebhookVersion;
  if (!REVIEW_VERSIONS.has(version))
    throw new Error(`unsupported webhook authorizer version ${JSON.stringify(version)}, supported versions are "v1", "v1beta1"`);
  return {
    type: mode,
    name: 'default',
    webhook: {
      timeoutMs: 30_000,
      authorizedTtlMs: options.authorizationWebhookCacheAuthorizedTtlMs,
      unauthorizedTtlMs: options.authorizationWebhookCacheUnauthorizedTtlMs,
      subjectAccessReviewVersion: version,
      failurePolicy: 'NoOpinion',
      kubeConfigFile: options.authorizationWebhookConfigFile,
      matchConditions: [],
    },
  };
}
