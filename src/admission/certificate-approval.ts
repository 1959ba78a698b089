import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';
import { maySignAs } from './signer-permission.ts';

/** Approval needs the verb `approve` on the signer that the stored request names (plugin/pkg/admission/certificates/approval). */
export function certificateApproval({ authorizer }: PluginEnvironment): AdmissionPlugin {
  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const { signerName } = (attributes.oldObject as CertificateSigningRequest).spec;
    if (await maySignAs(authorizer, attributes.user, 'approve', signerName)) return;
    throw refusal(attributes, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  }
  return { name: 'CertificateApproval', operations: UPDATE, targets: ['certificatesigningrequests.certificates.k8s.io/approval'], validate };
}
