import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { DerError, readChildren, readOid, readText, readValue } from '../util/der.ts';
import { pemBlocks } from '../util/pem.ts';
import { SYSTEM_PRIVILEGED_GROUP } from '../util/user.ts';
import { type AdmissionPlugin, CREATE } from './plugin.ts';
import { refusal } from './refusal.ts';

const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';
const ORGANIZATION = '2.5.4.10';

/** Nobody asks the cluster's own signer to make him all-powerful (plugin/pkg/admission/certificates/subjectrestriction). */
export function certificateSubjectRestriction(): AdmissionPlugin {
  function validate(attributes: AdmissionAttributes): void {
    const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
    if (signerName !== CLIENT_SIGNER || !organizationsOf(Buffer.from(request ?? '', 'base64').toString('latin1')).includes(SYSTEM_PRIVILEGED_GROUP)) return;
    throw refusal(attributes, `use of ${CLIENT_SIGNER} signer with ${SYSTEM_PRIVILEGED_GROUP} group is not allowed`);
  }
  return { name: 'CertificateSubjectRestriction', operations: CREATE, targets: ['certificatesigningrequests.certificates.k8s.io'], validate };
}

/** Of a request that its kind's rules have found whole: SEQUENCE { SEQUENCE { version, subject, … }, … }, the subject being a list of sets of named values. */
function organizationsOf(pem: string): string[] {
  const block = pemBlocks(pem).next().value;
  if (!block) return [];
  const [content] = readChildren(readValue(block.bytes).content);
  const [, subject] = readChildren(content!.content);
  if (!subject) throw new DerError('a certificate request without a subject');
  const values = readChildren(subject.content).flatMap((set) => readChildren(set.content));
  return values.flatMap(({ content: pair }) => {
    const [type, value] = readChildren(pair);
    return type && value && readOid(type) === ORGANIZATION ? [readText(value) ?? ''] : [];
  });
}
