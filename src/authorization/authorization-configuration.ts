import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { DURATION, FLAG, TEXT, decodeConfiguration, listOf, optional, structOf } from '../schema/configuration-file.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { formatDuration, parseDuration } from '../util/duration.ts';
import { FieldErrors, summarize } from '../api/field-errors.ts';
import { subdomainName } from '../api/names.ts';
import type { ConditionCompiler } from './match-conditions.ts';

export type AuthorizationMode = 'ABAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC' | 'Webhook';

/** One authorizer of the chain. */
export interface AuthorizerConfiguration {
  type: AuthorizationMode;
  name: string;
  webhook?: WebhookConfiguration;
}

export interface WebhookConfiguration {
  timeoutMs: number;
  /** 0: nothing is kept. */
  authorizedTtlMs: number;
  unauthorizedTtlMs: number;
  subjectAccessReviewVersion: string;
  failurePolicy: 'NoOpinion' | 'Deny';
  kubeConfigFile: string;
  matchConditions: readonly string[];
}

/** AuthorizationConfiguration of apiserver.config.k8s.io as it is written, the same in all its versions. */
interface FileConfiguration {
  authorizers?: { type?: string; name?: string; webhook?: FileWebhook }[];
}

interface FileWebhook {
  timeout?: string;
  authorizedTTL?: string;
  cacheAuthorizedRequests?: boolean;
  unauthorizedTTL?: string;
  cacheUnauthorizedRequests?: boolean;
  subjectAccessReviewVersion?: string;
  matchConditionSubjectAccessReviewVersion?: string;
  failurePolicy?: string;
  connectionInfo?: { type?: string; kubeConfigFile?: string };
  matchConditions?: { expression?: string }[];
}

const webhook = structOf('v1.WebhookConfiguration', {
  authorizedTTL: DURATION,
  cacheAuthorizedRequests: optional(FLAG),
  unauthorizedTTL: DURATION,
  cacheUnauthorizedRequests: optional(FLAG),
  timeout: DURATION,
  subjectAccessReviewVersion: TEXT,
  matchConditionSubjectAccessReviewVersion: TEXT,
  failurePolicy: TEXT,
  connectionInfo: structOf('v1.WebhookConnectionInfo', { type: TEXT, kubeConfigFile: optional(TEXT) }),
  matchConditions: listOf(structOf('v1.WebhookMatchCondition', { expression: TEXT })),
});

const TYPE = {
  kind: 'AuthorizationConfiguration',
  apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`),
  schema: structOf('v1.AuthorizationConfiguration', {
    kind: TEXT,
    apiVersion: TEXT,
    authorizers: listOf(structOf('v1.AuthorizerConfiguration', { type: TEXT, name: TEXT, webhook: optional(webhook) })),
  }),
};

const MODES: readonly AuthorizationMode[] = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
const MAX_TIMEOUT_MS = 30_000;
const MAX_CONDITIONS = 64;

/** What stands in an authorization configuration file. Throws an Error that names all that is wrong with it, in upstream's words. */
export async function parseAuthorizationConfiguration(text: string, compile: ConditionCompiler): Promise<AuthorizerConfiguration[]> {
  const { authorizers = [] } = (await decode(text)) as FileConfiguration;
  const errors = new FieldErrors();
  if (authorizers.length === 0) errors.at('authorizers').required('at least one authorization mode must be defined');
  const seen = { types: new Set<string>(), names: new Set<string>() };
  for (const [index, authorizer] of authorizers.entries()) validateAuthorizer(authorizer, seen, errors.at('authorizers').index(index), compile);
  if (!errors.isEmpty) throw new Error(summarize(errors.list));
  // Only webhooks have names of their own.
  const misnamed = authorizers.filter(({ type, name }) => type !== 'Webhook' && name !== type!.toLowerCase());
  if (misnamed.length > 0)
    throw new Error(aggregateMessage(misnamed.map(({ type, name }) => `expected name ${type!.toLowerCase()} for authorizer ${type} instead of ${name}`)));
  return authorizers.map(({ type, name, webhook: hook }) => ({ type: type as AuthorizationMode, name: name!, ...(hook && { webhook: completed(hook) }) }));
}

async function decode(text: string): Promise<object> {
  try {
    return await decodeConfiguration(text, TYPE);
  } catch (error) {
    throw new Error(`failed to load AuthorizationConfiguration from file: ${(error as Error).message}`, { cause: error });
  }
}

const durationMs = (text: string | undefined): number => (text === undefined ? 0 : parseDuration(text));

/** Of one that was found valid. */
const completed = (hook: FileWebhook): WebhookConfiguration => ({
  timeoutMs: durationMs(hook.timeout),
  authorizedTtlMs: hook.cacheAuthorizedRequests === false ? 0 : durationMs(hook.authorizedTTL) || 300_000,
  unauthorizedTtlMs: hook.cacheUnauthorizedRequests === false ? 0 : durationMs(hook.unauthorizedTTL) || 30_000,
  subjectAccessReviewVersion: hook.subjectAccessReviewVersion!,
  failurePolicy: hook.failurePolicy as WebhookConfiguration['failurePolicy'],
  kubeConfigFile: hook.connectionInfo!.kubeConfigFile!,
  matchConditions: (hook.matchConditions ?? []).map(({ expression }) => expression!),
});

function validateAuthorizer(
  { type = '', name = '', webhook: hook }: NonNullable<FileConfiguration['authorizers']>[number],
  seen: { types: Set<string>; names: Set<string> },
  errors: FieldErrors,
  compile: ConditionCompiler,
): void {
  if (type === '') return errors.at('type').required();
  if (!MODES.includes(type as AuthorizationMode)) return errors.at('type').notSupportedString(type, MODES);
  if (seen.types.has(type) && type !== 'Webhook') return errors.at('type').duplicate(type);
  seen.types.add(type);
  validateName(name, seen.names, errors.at('name'));
  if (type !== 'Webhook') {
    if (hook) errors.at('webhook').invalid('non-null', 'may only be specified when type=Webhook');
  } else if (hook) validateWebhook(hook, errors, compile);
  else errors.at('webhook').required('required when type=Webhook');
}

function validateName(name: string, seen: Set<string>, errors: FieldErrors): void {
  const problems = subdomainName(name, false);
  if (name === '') errors.required();
  else if (seen.has(name)) errors.duplicate(name);
  else if (problems.length > 0) errors.invalid(name, `authorizer name is invalid: ${problems.join(', ')}`);
  seen.add(name);
}

function validateWebhook(hook: FileWebhook, errors: FieldErrors, compile: ConditionCompiler): void {
  const timeoutMs = durationMs(hook.timeout);
  if (timeoutMs === 0) errors.at('timeout').required();
  else if (timeoutMs > MAX_TIMEOUT_MS || timeoutMs < 0) errors.at('timeout').invalid(formatDuration(timeoutMs), 'must be > 0s and <= 30s');
  for (const field of ['authorizedTTL', 'unauthorizedTTL'] as const) {
    const ttlMs = durationMs(hook[field]);
    if (ttlMs < 0) errors.at(field).invalid(formatDuration(ttlMs), 'must be > 0s');
  }
  oneOf(hook.subjectAccessReviewVersion, ['v1', 'v1beta1'], errors.at('subjectAccessReviewVersion'));
  const { matchConditions = [], matchConditionSubjectAccessReviewVersion: conditionVersion = '' } = hook;
  if (conditionVersion !== '') oneOf(conditionVersion, ['v1'], errors.at('matchConditionSubjectAccessReviewVersion'));
  else if (matchConditions.length > 0) errors.at('matchConditionSubjectAccessReviewVersion').required('required if match conditions are specified');
  oneOf(hook.failurePolicy, ['NoOpinion', 'Deny'], errors.at('failurePolicy'));
  validateConnection(hook.connectionInfo ?? {}, errors.at('connectionInfo'));
  validateConditions(matchConditions, errors.at('matchConditions'), compile);
}

function oneOf(value: string | undefined, supported: readonly string[], errors: FieldErrors): void {
  if (!value) errors.required();
  else if (!supported.includes(value)) errors.notSupportedString(value, supported);
}

/** InClusterConfig is another server's: this one does not run as a pod of the cluster that it serves. */
function validateConnection({ type = '', kubeConfigFile = '' }: NonNullable<FileWebhook['connectionInfo']>, errors: FieldErrors): void {
  if (type === '') return errors.at('type').required();
  if (type !== 'KubeConfigFile') return errors.at('type').notSupportedString(type, ['KubeConfigFile']);
  const at = errors.at('kubeConfigFile');
  if (kubeConfigFile === '') return at.required();
  if (!isAbsolute(kubeConfigFile)) return at.invalid(kubeConfigFile, 'must be an absolute path');
  try {
    if (!statSync(kubeConfigFile).isFile()) at.invalid(kubeConfigFile, 'must be a regular file');
  } catch (error) {
    at.invalid(kubeConfigFile, `error loading file: ${(error as Error).message}`);
  }
}

function validateConditions(conditions: readonly { expression?: string }[], errors: FieldErrors, compile: ConditionCompiler): void {
  if (conditions.length > MAX_CONDITIONS) return errors.tooMany(conditions.length, MAX_CONDITIONS);
  const seen = new Set<string>();
  for (const [index, { expression = '' }] of conditions.entries()) {
    const at = errors.index(index).at('expression');
    if (expression.trim() === '') at.required();
    else if (seen.has(expression)) at.duplicate(expression);
    else {
      try {
        compile(expression);
      } catch (error) {
        at.invalid(expression, (error as Error).message);
      }
    }
    seen.add(expression);
  }
}
