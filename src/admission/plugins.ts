import { alwaysAdmit, alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { certificateApproval, certificateSigning } from './certificate-signers.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts';
import { clusterTrustBundleAttest } from './cluster-trust-bundle-attest.ts';
import { validEventLimits } from './configuration.ts';
import { defaultIngressClass, defaultStorageClass } from './default-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { imagePolicyWebhook } from './image-policy/image-policy-webhook.ts';
import { jobValidation } from './job-validation.ts';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts';
import { limitRanger } from './limit-ranger/limit-ranger.ts';
import { namespaceAutoProvision } from './namespace-auto-provision.ts';
import { namespaceExists } from './namespace-exists.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { nodeRestriction } from './node-restriction/node-restriction.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import type { AdmissionPlugin, PluginEnvironment } from './plugin.ts';
import { podGroupProtection, podGroupWorkloadExists } from './pod-groups.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { podSecurity } from './pod-security/pod-security.ts';
import { type TolerationDefaults, podTolerationRestriction } from './pod-toleration-restriction.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { mutatingAdmissionPolicy } from './policies/mutating-admission-policy.ts';
import { validatingAdmissionPolicy } from './policies/validating-admission-policy.ts';
import { priority } from './priority.ts';
import { resourceQuota } from './resource-quota/resource-quota.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account/service-account.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';
import { mutatingAdmissionWebhook } from './webhooks/mutating.ts';
import { validatingAdmissionWebhook } from './webhooks/validating.ts';

const NO_TOLERATIONS: TolerationDefaults = { default: [], whitelist: [] };

type PluginFactory = (environment: PluginEnvironment) => AdmissionPlugin;

/** By upstream's name. `src/admission/plugin-order.ts` has their order, and says which are on. */
const factories: ReadonlyMap<string, PluginFactory> = new Map<string, PluginFactory>([
  ['NamespaceLifecycle', namespaceLifecycle],
  ['LimitRanger', limitRanger],
  ['ServiceAccount', (environment) => serviceAccount(environment)],
  ['TaintNodesByCondition', () => taintNodesByCondition],
  ['PodSecurity', podSecurity],
  ['Priority', priority],
  ['DefaultTolerationSeconds', defaultTolerationSeconds],
  ['DefaultStorageClass', defaultStorageClass],
  ['StorageObjectInUseProtection', storageObjectInUseProtection],
  ['PersistentVolumeClaimResize', persistentVolumeClaimResize],
  ['RuntimeClass', runtimeClass],
  ['CertificateApproval', certificateApproval],
  ['CertificateSigning', certificateSigning],
  ['CertificateSubjectRestriction', () => certificateSubjectRestriction],
  ['DefaultIngressClass', defaultIngressClass],
  ['PodTopologyLabels', podTopologyLabels],
  ['NodeDeclaredFeatureValidator', nodeDeclaredFeatureValidator],
  ['PodResizeValidator', podResizeValidator],
  ['MutatingAdmissionWebhook', mutatingAdmissionWebhook],
  ['ValidatingAdmissionWebhook', validatingAdmissionWebhook],
  ['AlwaysAdmit', () => alwaysAdmit],
  ['NamespaceAutoProvision', namespaceAutoProvision],
  ['NamespaceExists', namespaceExists],
  ['LimitPodHardAntiAffinityTopology', () => limitPodHardAntiAffinityTopology],
  ['AlwaysPullImages', () => alwaysPullImages],
  ['ExtendedResourceToleration', () => extendedResourceToleration],
  ['OwnerReferencesPermissionEnforcement', ownerReferencesPermissionEnforcement],
  ['ClusterTrustBundleAttest', clusterTrustBundleAttest],
  ['DenyServiceExternalIPs', () => denyServiceExternalIps],
  ['AlwaysDeny', () => alwaysDeny],
  ['NodeRestriction', nodeRestriction],
  ['PodNodeSelector', (environment) => podNodeSelector(environment, environment.options.configurations?.nodeSelectors ?? {})],
  ['PodTolerationRestriction', (environment) => podTolerationRestriction(environment, environment.options.configurations?.tolerations ?? NO_TOLERATIONS)],
  ['EventRateLimit', ({ options }) => eventRateLimit(validEventLimits(options.configurations?.eventLimits ?? []))],
  ['ResourceQuota', (environment) => resourceQuota(environment, environment.options.configurations?.limitedResources)],
  ['ImagePolicyWebhook', ({ options }) => imagePolicyWebhook(options.configurations?.imagePolicy, options.webhookRoutes)],
  ['PodGroupProtection', podGroupProtection],
  ['PodGroupWorkloadExists', podGroupWorkloadExists],
  ['JobValidation', jobValidation],
  ['MutatingAdmissionPolicy', mutatingAdmissionPolicy],
  ['ValidatingAdmissionPolicy', validatingAdmissionPolicy],
]);

export const existingPlugins: readonly string[] = [...factories.keys()];

/** In the order of the names, which is the order in which they run. */
export function createPlugins(names: readonly string[], environment: PluginEnvironment): AdmissionPlugin[] {
  return names.map((name) => {
    const create = factories.get(name);
    if (!create) throw new Error(`unknown admission plugin: ${name}`);
    return orExplain(name, () => create(environment));
  });
}

/** A plug-in that cannot be made keeps the server from starting: the error says which. */
function orExplain(name: string, create: () => AdmissionPlugin): AdmissionPlugin {
  try {
    return create();
  } catch (error) {
    throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });
  }
}
