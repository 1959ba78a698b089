import { flagOf, reviewStatus, stringField } from '../client/review-answer.ts';
import { DEFAULT_RETRY, type RetryOptions, type WebhookClient, WebhookError, withRetries } from '../client/webhook-client.ts';
import type { Authorizer, UserRules } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { ExpiringCache } from '../util/expiring-cache.ts';
import { stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import { conditionRequest, reviewBody, reviewSpec } from './access-review.ts';
import type { MatchCondition } from './match-conditions.ts';
import type { WebhookMetrics } from './metrics.ts';

export interface AuthorizationWebhookOptions {
  client: WebhookClient;
  /** Of authorization.k8s.io: v1 or v1beta1. */
  version: string;
  /** How long a yes, and all else, holds; 0: not at all. Failures are never kept. */
  authorizedTtlMs: number;
  unauthorizedTtlMs: number;
  /** What a failure comes to. */
  onFailure: 'noOpinion' | 'deny';
  /** The webhook is asked only where all of them hold. */
  conditions: readonly MatchCondition[];
  metrics?: WebhookMetrics | undefined;
  retry?: RetryOptions;
  nowMs?(): number;
}

const MAX_CACHED = 8192;
/** Requests whose own words are longer are not remembered: they may be made to fill the memory. */
const MAX_CACHED_LENGTH = 10_000;
const NO_OPINION: Decision = { decision: 'noOpinion', reason: '' };
const NO_RULES: UserRules = {
  resourceRules: [],
  nonResourceRules: [],
  isIncomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
};

/** Another server decides (apiserver/plugin/pkg/authorizer/webhook). */
export function authorizationWebhook(options: AuthorizationWebhookOptions): Authorizer {
  const cache = new ExpiringCache<Decision>(MAX_CACHED, options.nowMs);
  const fail = (error: string): Decision => ({ decision: options.onFailure, reason: '', error });
  const ask = async (attributes: AuthorizationAttributes, key: string, spec: JsonObject): Promise<Decision> => {
    try {
      const decision = await review(options, spec);
      const isAllowed = decision.decision === 'allow';
      if (wordLength(attributes) < MAX_CACHED_LENGTH) cache.set(key, decision, isAllowed ? options.authorizedTtlMs : options.unauthorizedTtlMs);
      return decision;
    } catch (error) {
      if (options.onFailure === 'noOpinion') options.metrics?.failedOpen(failureOf(error));
      return fail((error as Error).message);
    }
  };
  return {
    authorize(attributes) {
      const outcome = matchAll(options, attributes);
      if (outcome.errors.length > 0) return fail(aggregateMessage(outcome.errors));
      if (!outcome.isMatch) return NO_OPINION;
      const spec = reviewSpec(attributes);
      const key = stringifyJson(spec);
      return cache.get(key) ?? ask(attributes, key, spec);
    },
    rulesFor: () => NO_RULES,
  };
}

/** One condition that does not hold is enough to leave the webhook out, whatever the others failed of. */
function matchAll({ conditions, metrics }: AuthorizationWebhookOptions, attributes: AuthorizationAttributes): MatchOutcome {
  if (conditions.length === 0) return { isMatch: true, errors: [] };
  const startMs = performance.now();
  const outcome = evaluateAll(conditions, attributes);
  metrics?.matched(performance.now() - startMs, outcome.errors.length, !outcome.isMatch);
  return outcome;
}

interface MatchOutcome {
  isMatch: boolean;
  errors: string[];
}

function evaluateAll(conditions: readonly MatchCondition[], attributes: AuthorizationAttributes): MatchOutcome {
  const errors: string[] = [];
  const request = conditionRequest(attributes);
  for (const { text, holds } of conditions) {
    try {
      if (!holds(request)) return { isMatch: false, errors: [] };
    } catch (error) {
      errors.push(`cel evaluation error: expression '${text}' resulted in error: ${(error as Error).message}`);
    }
  }
  return { isMatch: true, errors };
}

const failureOf = (error: unknown): 'timeout' | 'error' => (error instanceof WebhookError && error.isTimeout ? 'timeout' : 'error');

async function call({ client, metrics }: AuthorizationWebhookOptions, body: string): Promise<Buffer> {
  const startMs = performance.now();
  try {
    const answer = await client.post(body);
    metrics?.called('success', performance.now() - startMs);
    return answer;
  } catch (error) {
    metrics?.called(failureOf(error), performance.now() - startMs);
    throw error;
  }
}

async function review(options: AuthorizationWebhookOptions, spec: JsonObject): Promise<Decision> {
  const { version, retry = DEFAULT_RETRY } = options;
  const body = stringifyJson(reviewBody(spec, version));
  const type = { kind: 'SubjectAccessReview', apiVersion: `authorization.k8s.io/${version}` };
  return decisionOf(await reviewStatus(await withRetries(retry, () => call(options, body)), type));
}

function decisionOf(status: JsonObject): Decision {
  const [isAllowed, isDenied, reason] = [flagOf(status, 'allowed'), flagOf(status, 'denied'), stringField(status, 'reason')];
  if (isAllowed && isDenied) return { decision: 'deny', reason, error: 'webhook subject access review returned both allow and deny response' };
  return { decision: isDenied ? 'deny' : isAllowed ? 'allow' : 'noOpinion', reason };
}

const wordLength = ({ namespace, verb, apiGroup, apiVersion, resource, subresource, name, path }: AuthorizationAttributes): number =>
  namespace.length + verb.length + apiGroup.length + apiVersion.length + resource.length + subresource.length + name.length + path.length;
