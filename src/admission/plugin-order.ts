import type { AdmissionOperation } from '../registry/admission.ts';

export type AdmissionStep = 'mutate' | 'validate';

export interface AdmissionPluginFact {
  readonly name: string;
  readonly isOnByDefault: boolean;
  /** What upstream's calls it for, whatever the resource: its Handler's operations, and the interfaces that it has. Metrics count these calls. */
  readonly operations: readonly AdmissionOperation[];
  readonly steps: readonly AdmissionStep[];
}

const CREATE = ['CREATE'] as const;
const UPDATE = ['UPDATE'] as const;
const CREATE_UPDATE = ['CREATE', 'UPDATE'] as const;
const WRITES = ['CREATE', 'UPDATE', 'DELETE'] as const;
const NO_DELETE = ['CREATE', 'UPDATE', 'CONNECT'] as const;
const ALL = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
const ADMIT = ['mutate'] as const;
const VALIDATE = ['validate'] as const;
const BOTH = ['mutate', 'validate'] as const;

type Declare = (name: string, operations: readonly AdmissionOperation[], steps: readonly AdmissionStep[]) => AdmissionPluginFact;

const on: Declare = (name, operations, steps) => ({ name, isOnByDefault: true, operations, steps });
const off: Declare = (name, operations, steps) => ({ name, isOnByDefault: false, operations, steps });

/** The admission plug-ins of kube-apiserver v1.36, in the order in which they run (pkg/kubeapiserver/options: AllOrderedPlugins). */
export const admissionPlugins: readonly AdmissionPluginFact[] = [
  off('AlwaysAdmit', ALL, BOTH),
  off('NamespaceAutoProvision', CREATE, ADMIT),
  on('NamespaceLifecycle', WRITES, ADMIT),
  off('NamespaceExists', WRITES, VALIDATE),
  off('LimitPodHardAntiAffinityTopology', CREATE_UPDATE, VALIDATE),
  on('LimitRanger', CREATE_UPDATE, BOTH),
  on('ServiceAccount', CREATE_UPDATE, BOTH),
  off('NodeRestriction', WRITES, ADMIT),
  on('TaintNodesByCondition', CREATE, ADMIT),
  off('AlwaysPullImages', CREATE_UPDATE, BOTH),
  off('ImagePolicyWebhook', CREATE_UPDATE, VALIDATE),
  on('PodSecurity', CREATE_UPDATE, VALIDATE),
  off('PodNodeSelector', CREATE, BOTH),
  on('Priority', WRITES, BOTH),
  on('DefaultTolerationSeconds', CREATE_UPDATE, ADMIT),
  off('PodTolerationRestriction', CREATE_UPDATE, BOTH),
  off('EventRateLimit', CREATE_UPDATE, VALIDATE),
  off('ExtendedResourceToleration', CREATE_UPDATE, ADMIT),
  on('DefaultStorageClass', CREATE, ADMIT),
  on('StorageObjectInUseProtection', CREATE, ADMIT),
  on('PodGroupProtection', CREATE, ADMIT),
  off('OwnerReferencesPermissionEnforcement', CREATE_UPDATE, VALIDATE),
  on('PersistentVolumeClaimResize', UPDATE, VALIDATE),
  on('RuntimeClass', CREATE, BOTH),
  on('CertificateApproval', UPDATE, VALIDATE),
  on('CertificateSigning', UPDATE, VALIDATE),
  on('ClusterTrustBundleAttest', CREATE_UPDATE, VALIDATE),
  on('CertificateSubjectRestriction', CREATE, VALIDATE),
  on('DefaultIngressClass', CREATE, ADMIT),
  off('DenyServiceExternalIPs', CREATE_UPDATE, VALIDATE),
  on('PodTopologyLabels', CREATE, ADMIT),
  on('PodGroupWorkloadExists', CREATE, VALIDATE),
  on('NodeDeclaredFeatureValidator', UPDATE, VALIDATE),
  on('JobValidation', UPDATE, VALIDATE),
  on('PodResizeValidator', UPDATE, VALIDATE),
  on('MutatingAdmissionPolicy', NO_DELETE, ADMIT),
  on('MutatingAdmissionWebhook', ALL, ADMIT),
  on('ValidatingAdmissionPolicy', ALL, VALIDATE),
  on('ValidatingAdmissionWebhook', ALL, VALIDATE),
  on('ResourceQuota', CREATE_UPDATE, VALIDATE),
  off('AlwaysDeny', ALL, BOTH),
];

/** The plug-ins that run, in order: those on by default and those enabled, without those disabled. */
export function enabledPlugins(enabled: readonly string[], disabled: readonly string[]): string[] {
  return admissionPlugins.filter(({ name, isOnByDefault }) => enabled.includes(name) || (isOnByDefault && !disabled.includes(name))).map(({ name }) => name);
}
