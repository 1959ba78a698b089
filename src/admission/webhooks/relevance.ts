import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { forbidden } from '../../api/errors.ts';
import type { StepLabel } from '../metrics.ts';
import type { PluginEnvironment } from '../plugin.ts';
import { evaluateWebhookConditions } from './conditions.ts';
import type { Webhook, WebhookSource } from './configuration.ts';
import { type Invocation, SelectorMatcher, isAdmissionConfiguration, viewFor } from './match.ts';
import type { ShownObjects } from './shown-objects.ts';
import { type AdmissionView, type Views, viewsOf } from './view.ts';

/** What a write is shown to, before any object is looked at. */
export interface Candidates {
  requested: AdmissionView;
  invocations: readonly Invocation[];
}

/** Undefined where no webhook's rules name this kind of write. */
export function candidatesFor(environment: PluginEnvironment, source: WebhookSource, attributes: AdmissionAttributes): Candidates | undefined {
  // Webhooks of the API are not asked about themselves, lest one locks out its own repair.
  const webhooks = isAdmissionConfiguration(attributes) ? source.staticWebhooks : source.webhooks;
  if (webhooks.length === 0) return undefined;
  const views = viewsOf(environment, attributes);
  const invocations = webhooks.flatMap((webhook, index) => invocationOf(webhook, index, attributes, views));
  return invocations.length === 0 ? undefined : { requested: views.requested, invocations };
}

function invocationOf(webhook: Webhook, index: number, attributes: AdmissionAttributes, views: Views): Invocation[] {
  const view = viewFor(webhook, attributes, views);
  return view ? [{ webhook, index, view }] : [];
}

/** Looks at the objects: selectors, then conditions. */
export class Relevance {
  readonly #environment: PluginEnvironment;
  readonly #selectors: SelectorMatcher;
  readonly #step: StepLabel;

  constructor(environment: PluginEnvironment, step: StepLabel) {
    this.#environment = environment;
    this.#step = step;
    this.#selectors = new SelectorMatcher(environment.client);
  }

  /**
   * Throws where nobody can tell and the webhook must not be passed over. `object` is the write's, as webhooks have left it; `shown` shows it as the
   * webhook wants to see it.
   */
  async isRelevant(
    invocation: Invocation,
    attributes: AdmissionAttributes,
    object: ApiObject | undefined,
    shown: () => Promise<ShownObjects>,
  ): Promise<boolean> {
    const { webhook } = invocation;
    if (!this.#selectors.matches(webhook, attributes, object)) return false;
    const holds = await this.#conditionsHold(invocation, attributes, shown);
    if (holds === true) return true;
    if (holds === false || webhook.spec.failurePolicy === 'Ignore') {
      this.#environment.metrics.webhookExcluded(webhook.spec.name, this.#step, attributes.operation);
      return false;
    }
    const { group, resource, name } = attributes;
    throw forbidden({ group, resource }, name, holds);
  }

  async #conditionsHold(invocation: Invocation, attributes: AdmissionAttributes, shown: () => Promise<ShownObjects>): Promise<boolean | string> {
    const { matchConditions = [], name } = invocation.webhook.spec;
    if (matchConditions.length === 0) return true;
    const { holds, errors, durationMs } = await evaluateWebhookConditions(this.#environment, invocation, attributes, await shown());
    const type = this.#step === 'validate' ? 'validating' : this.#step;
    if (holds !== true) this.#environment.metrics.conditionsEvaluated({ name, kind: 'webhook', type }, attributes.operation, durationMs, errors);
    return holds;
  }
}
