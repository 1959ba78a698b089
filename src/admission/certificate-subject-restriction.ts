import { type AdmissionPlugin, CREATE } from './plugin.ts';
import { refusal } from './refusal.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';
import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import { DerError, readChildren, readOid, readText, readValue } from '../encoding/der.ts';
import { pemBlocks } from '../encoding/pem.ts';

/** All values of one type (its OID) in the subject of a CertificateSigningRequest's request. What `unreadable` makes is thrown where it cannot be read. */
export function requestSubject(request: string | null, type: string, unreadable: (why: string) => Error): string[] {
  try {
    return subjectValues(Buffer.from(request ?? '', 'base64').toString('latin1'), type);
  } catch (error) {
    if (error instanceof DerError) throw unreadable(error.message);
    throw error;
  }
}

/** In a request's SEQUENCE { SEQUENCE { version, subject, … }, … } the subject is a list of sets of pairs: a type and its value. */
function subjectValues(pem: string, type: string): string[] {
  const block = pemBlocks(pem).next().value;
  const [content] = block ? readChildren(readValue(block.bytes).content) : [];
  const [, subject] = content ? readChildren(content.content) : [];
  const pairs = subject ? readChildren(subject.content).flatMap((set) => readChildren(set.content)) : [];
  return pairs.flatMap((pair) => {
    const [name, value] = readChildren(pair.content);
    return name && value && readOid(name) === type ? [readText(value) ?? ''] : [];
  });
}

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
