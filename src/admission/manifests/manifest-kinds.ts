import type { ApiObject } from '../../api/api-object.ts';
import { mutatingAdmissionPolicies } from '../../apis/admissionregistration/mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBindings } from '../../apis/admissionregistration/mutating-admission-policy-binding.ts';
import { mutatingWebhookConfigurations } from '../../apis/admissionregistration/mutating-webhook-configuration.ts';
import { STATIC_SUFFIX } from '../../apis/admissionregistration/reserved-names.ts';
import { validatingAdmissionPolicies } from '../../apis/admissionregistration/validating-admission-policy.ts';
import { validatingAdmissionPolicyBindings } from '../../apis/admissionregistration/validating-admission-policy-binding.ts';
import { validatingWebhookConfigurations } from '../../apis/admissionregistration/validating-webhook-configuration.ts';
import type { MutatingWebhookConfiguration } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { quote } from '../../util/go-quote.ts';
import type { AdmissionPolicy, PolicyBinding } from '../policies/policy-source.ts';
import type { LoadedManifests, ManifestKind } from './load-manifests.ts';

/** What may stand in the folder of a plug-in, and what holds between the objects there. */
export interface ManifestSet {
  kinds: readonly ManifestKind[];
  checkAll(loaded: LoadedManifests): void;
  /** As errors call the folder's content. */
  what: 'webhook' | 'policy';
}

/** There may be no cluster to find a service in when a manifest counts already. */
function checkWebhooks(configuration: ApiObject, path: string): void {
  const { metadata, webhooks = [] } = configuration as MutatingWebhookConfiguration;
  for (const { name, clientConfig } of webhooks) {
    const where = `webhook ${quote(name)} in ${quote(metadata.name!)} (file ${quote(path)})`;
    if (clientConfig.service) throw new Error(`${where}: clientConfig.service is not supported for static manifests; use clientConfig.url instead`);
    if (!clientConfig.url) throw new Error(`${where}: clientConfig.url is required for static manifests`);
  }
}

function checkPolicy(policy: ApiObject): void {
  const { kind, metadata, spec } = policy as AdmissionPolicy;
  if (spec.paramKind) throw new Error(`${kind} ${quote(metadata.name!)}: spec.paramKind is not supported for static manifests`);
}

function checkBinding(binding: ApiObject): void {
  const { metadata, spec } = binding as PolicyBinding;
  const [name, policyName] = [quote(metadata.name!), spec.policyName ?? ''];
  if (policyName === '') throw new Error(`binding ${name} must reference a policy (spec.policyName)`);
  if (!policyName.endsWith(STATIC_SUFFIX)) throw new Error(`binding ${name}: spec.policyName ${quote(policyName)} must end with ${quote(STATIC_SUFFIX)}`);
  if (spec.paramRef) throw new Error(`binding ${name}: spec.paramRef is not supported for static manifests`);
}

const webhooks = (definition: unknown): ManifestSet => ({
  kinds: [{ definition: definition as ResourceDefinition, check: checkWebhooks }],
  checkAll() {},
  what: 'webhook',
});

const policies = (policy: unknown, binding: unknown): ManifestSet => {
  const [policyDefinition, bindingDefinition] = [policy as ResourceDefinition, binding as ResourceDefinition];
  return {
    kinds: [
      { definition: policyDefinition, check: checkPolicy },
      { definition: bindingDefinition, check: checkBinding },
    ],
    checkAll({ objects }) {
      const names = new Set(objects.get(policyDefinition.kind)!.map(({ metadata }) => metadata.name));
      for (const { metadata, spec } of objects.get(bindingDefinition.kind)! as readonly PolicyBinding[])
        if (!names.has(spec.policyName))
          throw new Error(`binding ${quote(metadata.name!)} references policy ${quote(spec.policyName ?? '')} which does not exist in the manifest directory`);
    },
    what: 'policy',
  };
};

/** By the plug-in whose configuration names the folder. */
export const manifestSets: ReadonlyMap<string, ManifestSet> = new Map([
  ['MutatingAdmissionWebhook', webhooks(mutatingWebhookConfigurations)],
  ['ValidatingAdmissionWebhook', webhooks(validatingWebhookConfigurations)],
  ['MutatingAdmissionPolicy', policies(mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings)],
  ['ValidatingAdmissionPolicy', policies(validatingAdmissionPolicies, validatingAdmissionPolicyBindings)],
]);
