import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';
import { requestSubject } from './certificate-subject.ts';
import { type AdmissionPlugin, CREATE } from './plugin.ts';
import { refusal } from './refusal.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const ORGANIZATION = '2.5.4.10';

/** Nobody asks the cluster's own signer to make him all-powerful (plugin/pkg/admission/certificates/subjectrestriction). */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  operations: CREATE,
  targets: ['certificatesigningrequests.certificates.k8s.io'],
  validate(attributes) {
    const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
    if (signerName !== CLIENT_SIGNER) return;
    const organizations = requestSubject(request, ORGANIZATION, (why) => refusal(attributes, `failed to parse CSR: ${why}`));
    if (!organizations.includes(SYSTEM_PRIVILEGED_GROUP)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${SYSTEM_PRIVILEGED_GROUP} group is not allowed`);
  },
};
