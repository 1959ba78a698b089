import type { Client } from '../../client/client.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import { aggregateMessage } from '../../util/aggregate-message.ts';
import { forbidden } from '../../util/errors.ts';
import type { Webhook } from './configuration.ts';
import { type Invocation, SelectorMatcher, isAdmissionConfiguration, viewFor } from './match.ts';
import type { View, Views } from './view.ts';
import { viewsOf } from './view.ts';

/** What a write is shown to, before any object is looked at. */
export interface Candidates {
  requested: View;
  invocations: readonly Invocation[];
}

/** Undefined where no webhook's rules name this kind of write. */
export function candidatesFor(webhooks: readonly Webhook[], attributes: AdmissionAttributes): Candidates | undefined {
  if (webhooks.length === 0 || isAdmissionConfiguration(attributes)) return undefined;
  const views = viewsOf(attributes);
  const invocations = webhooks.flatMap((webhook, index) => invocationOf(webhook, index, attributes, views));
  return invocations.length === 0 ? undefined : { requested: views.requested, invocations };
}

function invocationOf(webhook: Webhook, index: number, attributes: AdmissionAttributes, views: Views): Invocation[] {
  const view = viewFor(webhook, attributes, views);
  return view ? [{ webhook, index, view }] : [];
}

/** Looks at the objects: selectors, then conditions. */
export class Relevance {
  readonly #selectors: SelectorMatcher;
  readonly #authorizer: Authorizer;

  constructor(client: Client, authorizer: Authorizer) {
    this.#selectors = new SelectorMatcher(client);
    this.#authorizer = authorizer;
  }

  /** Throws where nobody can tell and the webhook must not be passed over. */
  async isRelevant({ webhook, view }: Invocation, attributes: AdmissionAttributes, requested: View): Promise<boolean> {
    if (!this.#selectors.matches(webhook, attributes)) return false;
    const { matchConditions = [], failurePolicy } = webhook.spec;
    if (matchConditions.length === 0) return true;
    const { evaluateConditions } = await import('./conditions.ts');
    const { matches, errors } = evaluateConditions(matchConditions, attributes, requested, view, this.#authorizer);
    if (errors.length === 0 || failurePolicy === 'Ignore') return matches && errors.length === 0;
    const { group, resource, name } = attributes;
    throw forbidden({ group, resource }, name, aggregateMessage(errors));
  }
}
