import type { ResourceQuota } from '../../apis/facts/types/core-v1.ts';
import { createEvaluators } from '../../apis/core/quota/evaluators.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from '../plugin.ts';
import type { LimitedResource } from './quota-check.ts';
import { QuotaLedger } from './ledger.ts';

/**
 * What a namespace's objects may use up together (apiserver/pkg/admission/plugin/resourcequota). A quota is in force once its status says how much is used:
 * the resourcequota-controller fills it in, or whoever stands in its place.
 */
export function resourceQuota({ client, kindSettings, now }: PluginEnvironment, limited: readonly LimitedResource[] = []): AdmissionPlugin {
  const quotas = client.resource<ResourceQuota>('', 'resourcequotas');
  const evaluatorOf = createEvaluators(now, kindSettings);
  const ledger = new QuotaLedger(quotas, limited);

  function validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { namespace, group, resource } = attributes;
    if (namespace === '' || (resource === 'namespaces' && group === '')) return;
    const evaluator = evaluatorOf(attributes);
    if (!evaluator?.handles(attributes)) return;
    if (limited.length > 0 || quotas.informer.list(namespace).length > 0) return ledger.charge(attributes, evaluator);
  }
  return { name: 'ResourceQuota', operations: CREATE_OR_UPDATE, validate };
}
