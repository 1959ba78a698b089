import type { Authorizer } from '../registry/authorizer.ts';
import type { AuthorizationAttributes, Decision } from '../api/authorization.ts';
import type { NumberSeries } from '../metrics/family.ts';
import type { MetricRegistry } from '../metrics/registry.ts';

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
  /** The graph of the node authorizer has changed. */
  graphChanged(this: void, operation: string, durationMs: number): void;
}

/** apiserver_authorization_* (apiserver/pkg/authorization/metrics, …/authorization/cel, plugin/pkg/authorizer/webhook/metrics). */
export function registerAuthorizationMetrics(registry: MetricRegistry): AuthorizationMetrics {
  const families = registerFamilies(registry);
  return {
    counted: (authorizer, type, name) => countDecisions(authorizer, (decision) => families.decisions.with(type, name, decision)),
    graphChanged: (operation, durationMs) => families.graph.with(operation).observe(durationMs / 1000),
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
  return {
    graph: registry.family('node_authorizer_graph_actions_duration_seconds'),
    decisions: registry.family('apiserver_authorization_decisions_total'),
    calls: registry.family('apiserver_authorization_webhook_evaluations_total'),
    callDuration: registry.family('apiserver_authorization_webhook_duration_seconds'),
    failOpen: registry.family('apiserver_authorization_webhook_evaluations_fail_open_total'),
    matchDuration: registry.family('apiserver_authorization_match_condition_evaluation_seconds'),
    matchErrors: registry.family('apiserver_authorization_match_condition_evaluation_errors_total'),
    exclusions: registry.family('apiserver_authorization_match_condition_exclusions_total'),
  };
}

/** The series are looked up once: this is on the way of every request. */
function countDecisions(authorizer: Authorizer, seriesOf: (decision: string) => NumberSeries): Authorizer {
  let allowed: NumberSeries | undefined;
  let denied: NumberSeries | undefined;
  const count = (decided: Decision): Decision => {
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
