export interface AdmissionPluginFact {
  readonly name: string;
  readonly isOnByDefault: boolean;
}

const on = (name: string): AdmissionPluginFact => ({ name, isOnByDefault: true });
const off = (name: string): AdmissionPluginFact => ({ name, isOnByDefault: false });

/** The admission plug-ins of kube-apiserver v1.36, in the order in which they run (pkg/kubeapiserver/options: AllOrderedPlugins). */
export const admissionPlugins: readonly AdmissionPluginFact[] = [
  off('AlwaysAdmit'),
  off('NamespaceAutoProvision'),
  on('NamespaceLifecycle'),
  off('NamespaceExists'),
  off('LimitPodHardAntiAffinityTopology'),
  on('LimitRanger'),
  on('ServiceAccount'),
  off('NodeRestriction'),
  on('TaintNodesByCondition'),
  off('AlwaysPullImages'),
  off('ImagePolicyWebhook'),
  on('PodSecurity'),
  off('PodNodeSelector'),
  on('Priority'),
  on('DefaultTolerationSeconds'),
  off('PodTolerationRestriction'),
  off('EventRateLimit'),
  off('ExtendedResourceToleration'),
  on('DefaultStorageClass'),
  on('StorageObjectInUseProtection'),
  on('PodGroupProtection'),
  off('OwnerReferencesPermissionEnforcement'),
  on('PersistentVolumeClaimResize'),
  on('RuntimeClass'),
  on('CertificateApproval'),
  on('CertificateSigning'),
  on('ClusterTrustBundleAttest'),
  on('CertificateSubjectRestriction'),
  on('DefaultIngressClass'),
  off('DenyServiceExternalIPs'),
  on('PodTopologyLabels'),
  on('PodGroupWorkloadExists'),
  on('NodeDeclaredFeatureValidator'),
  on('JobValidation'),
  on('PodResizeValidator'),
  on('MutatingAdmissionPolicy'),
  on('MutatingAdmissionWebhook'),
  on('ValidatingAdmissionPolicy'),
  on('ValidatingAdmissionWebhook'),
  on('ResourceQuota'),
  off('AlwaysDeny'),
];

/** The plug-ins that run, in order: those on by default and those enabled, without those disabled. */
export function enabledPlugins(enabled: readonly string[], disabled: readonly string[]): string[] {
  return admissionPlugins.filter(({ name, isOnByDefault }) => enabled.includes(name) || (isOnByDefault && !disabled.includes(name))).map(({ name }) => name);
}
