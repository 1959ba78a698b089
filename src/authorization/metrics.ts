import type { Authorizer } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import type { MetricRegistry, NumberSeries } from '../server/metrics/registry.ts';

/** What an authorization webhook tells of itself. */
export interface WebhookMetrics {
  /** One call: how it ended, and how long it took. */
  called(result: 'success' | 'timeout' | 'error', durationMs: number): void;
  /** A failure that came to no opinion. */
  failedOpen(result: 'timeout' | 'error'): void;
  /** Its conditions were evaluated. */
  matched(durationMs: number, errors: number, isExcluded: boolean): void;
}

export interface AuthorizationMetrics {
  /** The same authorizer, whose decisions are counted; having no opinion is none. */
  counted(authorizer: Authorizer, type: string, name: string): Authorizer;
  webhook(name: string): WebhookMetrics;
}

const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MATCH_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** apiserver_authorization_* (apiserver/pkg/authorization/metrics, …/authorization/cel, plugin/pkg/authorizer/webhook/metrics). */
export function registerAuthorizationMetrics(registry: MetricRegistry): AuthorizationMetrics {
  const families = registerFamilies(registry);
  let resets = 0;
  registry.onReset(() => resets++);
  return {
    counted: (authorizer, type, name) =>
      countDecisions(
        authorizer,
        () => resets,
        (decision) => families.decisions.with(type, name, decision),
      ),
    webhook: (name) => ({
      called(result, durationMs) {
        families.calls.with(name, result).inc();
        families.callDuration.with(name, result).observe(durationMs / 1000);
      },
      failedOpen: (result) => families.failOpen.with(name, result).inc(),
      matched(durationMs, errors, isExcluded) {
        families.matchDuration.with('Webhook', name).observe(durationMs / 1000);
        if (errors > 0) families.matchErrors.with('Webhook', name).inc(errors);
        if (isExcluded) families.exclusions.with('Webhook', name).inc();
      },
    }),
  };
}

function registerFamilies(registry: MetricRegistry) {
  const name = (suffix: string): string => `apiserver_authorization_${suffix}`;
  const stability = 'ALPHA';
  const byWebhook = ['name', 'result'];
  const byAuthorizer = ['type', 'name'];
  return {
    decisions: registry.counter({
      name: name('decisions_total'),
      help: 'Decisions, by the authorizer that made them.',
      stability,
      labels: [...byAuthorizer, 'decision'],
    }),
    calls: registry.counter({ name: name('webhook_evaluations_total'), help: 'Calls of authorization webhooks.', stability, labels: byWebhook }),
    callDuration: registry.histogram({
      name: name('webhook_duration_seconds'),
      help: 'Seconds that calls of authorization webhooks took.',
      stability,
      labels: byWebhook,
      buckets: CALL_BUCKETS,
    }),
    failOpen: registry.counter({
      name: name('webhook_evaluations_fail_open_total'),
      help: 'Calls of authorization webhooks that failed and came to no opinion.',
      stability,
      labels: byWebhook,
    }),
    matchDuration: registry.histogram({
      name: name('match_condition_evaluation_seconds'),
      help: 'Seconds that the match conditions of an authorizer took.',
      stability,
      labels: byAuthorizer,
      buckets: MATCH_BUCKETS,
    }),
    matchErrors: registry.counter({
      name: name('match_condition_evaluation_errors_total'),
      help: 'Match conditions that could not be evaluated.',
      stability,
      labels: byAuthorizer,
    }),
    exclusions: registry.counter({
      name: name('match_condition_exclusions_total'),
      help: 'Requests that match conditions kept from an authorizer.',
      stability,
      labels: byAuthorizer,
    }),
  };
}

/** The series are looked up once, and again after each reset: this is on the way of every request. */
function countDecisions(authorizer: Authorizer, resets: () => number, seriesOf: (decision: string) => NumberSeries): Authorizer {
  let allowed: NumberSeries | undefined;
  let denied: NumberSeries | undefined;
  let knownResets = resets();
  const count = (decided: Decision): Decision => {
    if (knownResets !== resets()) {
      knownResets = resets();
      allowed = denied = undefined;
    }
    if (decided.decision === 'allow') (allowed ??= seriesOf('allowed')).inc();
    else if (decided.decision === 'deny') (denied ??= seriesOf('denied')).inc();
    return decided;
  };
  return {
    authorize(attributes: AuthorizationAttributes) {
      const decision = authorizer.authorize(attributes);
      return decision instanceof Promise ? decision.then(count) : count(decision);
    },
    rulesFor: (user, namespace) => authorizer.rulesFor(user, namespace),
  };
}
