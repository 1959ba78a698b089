import { hash, randomBytes } from 'node:crypto';
import { flagOf, objectOf, reviewStatus, stringField, textsOf } from '../client/review-answer.ts';
import { DEFAULT_RETRY, type RetryOptions, type WebhookClient, withRetries } from '../client/webhook-client.ts';
import type { Authentication } from '../server/authenticator.ts';
import { ExpiringCache } from '../util/expiring-cache.ts';
import { ownValue, stringifyJson } from '../encoding/json.ts';
import type { JsonObject } from '../encoding/json-types.ts';
import type { TokenCacheMetrics } from './metrics.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

export interface TokenWebhookOptions {
  client: WebhookClient;
  /** Of authentication.k8s.io: v1 or v1beta1. */
  version: string;
  apiAudiences: readonly string[];
  /** How long an answer holds, be it yes or no; failures are never kept. 0: not at all. */
  cacheTtlMs: number;
  metrics?: TokenCacheMetrics | undefined;
  retry?: RetryOptions;
  nowMs?(): number;
}

const MAX_CACHED = 32_768;
/** Longer ones are nobody's: headers end not far beyond. */
const MAX_TOKEN_LENGTH = 64 * 1024;

/** `undefined` in it is a no. */
interface Answer {
  authentication: Authentication | undefined;
}

/**
 * Another server says whose a token is (apiserver/plugin/pkg/authenticator/token/webhook, and token/cache for what is remembered). Requests that carry the
 * same token at the same time wait for one call.
 */
export function tokenWebhook(options: TokenWebhookOptions): TokenAuthenticator {
  const cache = new ExpiringCache<Answer>(MAX_CACHED, options.nowMs);
  const underWay = new Map<string, Promise<Answer>>();
  const cacheKey = randomBytes(32).toString('base64');
  const { metrics } = options;
  const ask = async (key: string, token: string, audiences: readonly string[] | undefined): Promise<Answer> => {
    const done = metrics?.fetching();
    let isSuccess = false;
    try {
      const answer = { authentication: await review(options, token, audiences) };
      cache.set(key, answer, options.cacheTtlMs);
      isSuccess = true;
      return answer;
    } finally {
      done?.(isSuccess);
      underWay.delete(key);
    }
  };
  return {
    authenticateToken(token, audiences) {
      if (token.length > MAX_TOKEN_LENGTH) return undefined;
      const key = hash('sha256', cacheKey + JSON.stringify([token, audiences ?? null]), 'base64');
      const startMs = performance.now();
      const known = cache.get(key);
      if (known) {
        metrics?.asked(true, performance.now() - startMs);
        return known.authentication;
      }
      let asked = underWay.get(key);
      const unblocked = asked && metrics?.blocked();
      if (!asked) underWay.set(key, (asked = ask(key, token, audiences)));
      return asked
        .then(({ authentication }) => authentication)
        .finally(() => {
          unblocked?.();
          metrics?.asked(false, performance.now() - startMs);
        });
    },
  };
}

async function review(options: TokenWebhookOptions, token: string, audiences: readonly string[] | undefined): Promise<Authentication | undefined> {
  const { client, version, apiAudiences, retry = DEFAULT_RETRY } = options;
  const wanted = audiences ?? apiAudiences;
  const type = { kind: 'TokenReview', apiVersion: `authentication.k8s.io/${version}` };
  const body = stringifyJson({
    ...type,
    metadata: {},
    spec: { token, ...(wanted.length > 0 && { audiences: wanted }) },
    status: { user: {} },
  });
  const status = await reviewStatus(await withRetries(retry, () => client.post(body)), type);
  const named = textsOf(status, 'audiences');
  const shared = (named.length > 0 ? named : apiAudiences).filter((audience) => wanted.includes(audience));
  if (wanted.length > 0 && shared.length === 0) return undefined;
  const [user, error] = [userOf(objectOf(status, 'user')), stringField(status, 'error')];
  if (!flagOf(status, 'authenticated')) {
    if (error !== '') throw new Error(error);
    return undefined;
  }
  return { user, ...(wanted.length > 0 && { audiences: shared }) };
}

function userOf(user: JsonObject): Authentication['user'] {
  const [uid, extra] = [stringField(user, 'uid'), objectOf(user, 'extra')];
  return {
    name: stringField(user, 'username'),
    ...(uid !== '' && { uid }),
    groups: textsOf(user, 'groups'),
    ...(ownValue(user, 'extra') && { extra: Object.fromEntries(Object.keys(extra).map((key) => [key, textsOf(extra, key)])) }),
  };
}
