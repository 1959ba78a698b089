/* Made by npm run facts from facts/: kinds that came or went since the oldest version that can be emulated. */

export const kindLifecycles = (): string => `
admissionregistration.k8s.io/v1 MutatingAdmissionPolicy introduced=1.36
admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding introduced=1.36
admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy introduced=1.34
admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicyBinding introduced=1.34
admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy removed=1.34
admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicyBinding removed=1.34
apidiscovery.k8s.io/v2beta1 APIGroupDiscovery removed=1.35
certificates.k8s.io/v1beta1 PodCertificateRequest introduced=1.35
resource.k8s.io/v1 DeviceClass introduced=1.34
resource.k8s.io/v1 ResourceClaim introduced=1.34
resource.k8s.io/v1 ResourceClaimTemplate introduced=1.34
resource.k8s.io/v1 ResourceSlice introduced=1.34
resource.k8s.io/v1alpha3 ResourcePoolStatusRequest introduced=1.36
resource.k8s.io/v1beta2 DeviceTaintRule introduced=1.36
storage.k8s.io/v1 VolumeAttributesClass introduced=1.34
storage.k8s.io/v1alpha1 VolumeAttributesClass removed=1.35
storagemigration.k8s.io/v1beta1 StorageVersionMigration introduced=1.35
`;
