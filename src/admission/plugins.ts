import { certificateApproval } from './certificate-approval.ts';
import { certificateSigning } from './certificate-signing.ts';
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { limitRanger } from './limit-ranger/limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import type { AdmissionPlugin, PluginEnvironment } from './plugin.ts';
import { podSecurity } from './pod-security/pod-security.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account/service-account.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';

type PluginFactory = (environment: PluginEnvironment) => AdmissionPlugin;

/** Those that exist, by upstream's name. `src/cli/admission-plugins.ts` knows them all, and says which are still to come. */
const factories: ReadonlyMap<string, PluginFactory> = new Map<string, PluginFactory>([
  ['NamespaceLifecycle', namespaceLifecycle],
  ['LimitRanger', limitRanger],
  ['ServiceAccount', (environment) => serviceAccount(environment)],
  ['TaintNodesByCondition', () => taintNodesByCondition],
  ['PodSecurity', podSecurity],
  ['Priority', priority],
  ['DefaultTolerationSeconds', defaultTolerationSeconds],
  ['DefaultStorageClass', defaultStorageClass],
  ['StorageObjectInUseProtection', () => storageObjectInUseProtection],
  ['PersistentVolumeClaimResize', persistentVolumeClaimResize],
  ['RuntimeClass', runtimeClass],
  ['CertificateApproval', certificateApproval],
  ['CertificateSigning', certificateSigning],
  ['CertificateSubjectRestriction', () => certificateSubjectRestriction],
  ['DefaultIngressClass', defaultIngressClass],
  ['PodTopologyLabels', podTopologyLabels],
  ['NodeDeclaredFeatureValidator', nodeDeclaredFeatureValidator],
  ['PodResizeValidator', podResizeValidator],
]);

export const existingPlugins: readonly string[] = [...factories.keys()];

/** In the order of the names, which is the order in which they run. Names of plug-ins that do not exist yet are passed over. */
export function createPlugins(names: readonly string[], environment: PluginEnvironment): AdmissionPlugin[] {
  return names.flatMap((name) => factories.get(name)?.(environment) ?? []);
}
