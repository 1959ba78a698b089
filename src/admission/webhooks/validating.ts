import type { AdmissionAttributes } from '../../registry/admission.ts';
import { internalError, isApiError } from '../../api/errors.ts';
import { type AdmissionPlugin, EVERY_OPERATION, type PluginEnvironment } from '../plugin.ts';
import { callWebhook, counted, outcomeOf, requestTimeout } from './call.ts';
import { manifestsOf } from '../manifests/manifests-of.ts';
import { WebhookSource } from './configuration.ts';
import type { Invocation } from './match.ts';
import { type Candidates, Relevance, candidatesFor } from './relevance.ts';
import { callEnvironment } from './call-environment.ts';
import { type ShownObjects, shownIn } from './shown-objects.ts';
import type { AdmissionView } from './view.ts';

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/';

/** Asks all webhooks that a write concerns at once; the first refusal counts (apiserver/pkg/admission/plugin/webhook/validating). */
export function validatingAdmissionWebhook(environment: PluginEnvironment): AdmissionPlugin {
  const { metrics } = environment;
  const source = new WebhookSource(
    environment.client,
    'validatingwebhookconfigurations',
    callEnvironment(environment, environment.options.configurations?.validatingWebhookUsers),
    manifestsOf(environment, 'ValidatingAdmissionWebhook', 'ValidatingWebhookConfiguration'),
  );
  const relevance = new Relevance(environment, 'validate');

  function validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!source.isSynced) return source.synced.then(() => validate(attributes));
    const candidates = candidatesFor(environment, source, attributes);
    return candidates && dispatch(candidates, attributes);
  }

  async function dispatch({ requested, invocations }: Candidates, attributes: AdmissionAttributes): Promise<void> {
    const relevant: Invocation[] = [];
    const views = new Map<AdmissionView, Promise<ShownObjects>>();
    const shownFor = (view: AdmissionView): Promise<ShownObjects> => {
      let shown = views.get(view);
      if (!shown) views.set(view, (shown = shownIn(view, attributes).catch(asInternalError)));
      return shown;
    };
    for (const invocation of invocations) {
      const isRelevant = await relevance.isRelevant(invocation, attributes, attributes.object, () => shownFor(invocation.view));
      if (!isRelevant) continue;
      relevant.push(invocation);
      await shownFor(invocation.view);
    }
    if (relevant.length === 0) return;
    if (attributes.context.signal?.aborted) throw requestTimeout();
    const refusals: unknown[] = [];
    const ask = async (invocation: Invocation, index: number): Promise<void> => {
      try {
        await counted(metrics, 'validating', invocation, attributes, async () =>
          callWebhook(invocation, attributes, requested, await shownFor(invocation.view), false),
        );
      } catch (error) {
        const { name } = invocation.webhook.spec;
        const refusal = outcomeOf(error, invocation, attributes, () => {
          metrics.webhookFailedOpen(name, 'validating');
          attributes.context.annotateAudit(`${FAILED_OPEN}round_0_index_${index}`, name);
        });
        if (refusal !== undefined) refusals.push(refusal);
      }
    };
    await Promise.all(relevant.map(ask));
    if (refusals.length > 0) throw refusals[0];
  }

  return { name: 'ValidatingAdmissionWebhook', operations: EVERY_OPERATION, validate };
}

function asInternalError(error: unknown): never {
  throw isApiError(error) ? internalError(error.message) : error;
}
