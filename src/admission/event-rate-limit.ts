import type { Event } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { aggregateMessage } from '../api/aggregate-message.ts';
import { rateLimited } from '../api/errors.ts';
import { TokenBucket } from '../util/token-bucket.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from './plugin.ts';

/** Whose events one limit counts together. */
export const EVENT_LIMIT_TYPES = ['Server', 'Namespace', 'User', 'SourceAndObject'] as const;

/** eventratelimit.admission.k8s.io Limit. */
export interface EventLimit {
  type: (typeof EVENT_LIMIT_TYPES)[number];
  qps: number;
  burst: number;
  /** How many keys are remembered; 0 is the default. */
  cacheSize: number;
}

const DEFAULT_CACHE_SIZE = 4096;

/** Keeps events from filling the store (plugin/pkg/admission/eventratelimit). */
export function eventRateLimit(limits: readonly EventLimit[], nowMs = () => performance.now()): AdmissionPlugin {
  const enforcers = limits.map((limit) => enforcerOf(limit, nowMs));

  function validate(attributes: AdmissionAttributes): void {
    if (attributes.dryRun) return;
    const messages = enforcers.flatMap((refuses) => refuses(attributes) ?? []);
    if (messages.length > 0) throw rateLimited(aggregateMessage(messages));
  }
  return { name: 'EventRateLimit', operations: CREATE_OR_UPDATE, targets: ['events', 'events.events.k8s.io'], validate };
}

/** Says why an event is one too many; of the keys the ones used last are remembered. */
function enforcerOf({ type, qps, burst, cacheSize }: EventLimit, nowMs: () => number): (attributes: AdmissionAttributes) => string | undefined {
  const buckets = new Map<string, TokenBucket>();
  const maxKeys = cacheSize || DEFAULT_CACHE_SIZE;
  return (attributes) => {
    const key = keyOf(type, attributes);
    const now = nowMs();
    const bucket = buckets.get(key) ?? new TokenBucket(qps, burst, now);
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxKeys) buckets.delete(buckets.keys().next().value!);
    if (!bucket.hasOne(now)) return `limit reached on type ${type} for key ${key}`;
    bucket.take(now);
    return undefined;
  };
}

function keyOf(type: EventLimit['type'], { namespace, user, object }: AdmissionAttributes): string {
  if (type === 'Server') return '';
  if (type === 'Namespace') return namespace;
  if (type === 'User') return user.name;
  const { source, involvedObject } = object as Event;
  const { kind, namespace: objectNamespace, name, uid, apiVersion } = involvedObject;
  return [source?.component, source?.host, kind, objectNamespace, name, uid, apiVersion].map((part) => part ?? '').join('');
}
