import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';
import { maySignAs } from './signer-permission.ts';

/** A certificate, or conditions, are set only by who has the verb `sign` on the signer (plugin/pkg/admission/certificates/signing). */
export function certificateSigning({ authorizer }: PluginEnvironment): AdmissionPlugin {
  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const { spec, status: before } = attributes.oldObject as CertificateSigningRequest;
    const { status } = attributes.object as CertificateSigningRequest;
    if (status.certificate === before.certificate && equalJson(status.conditions, before.conditions)) return;
    if (await maySignAs(authorizer, attributes.user, 'sign', spec.signerName)) return;
    throw refusal(attributes, `user not permitted to sign requests with signerName ${quote(spec.signerName)}`);
  }
  return { name: 'CertificateSigning', operations: UPDATE, targets: ['certificatesigningrequests.certificates.k8s.io/status'], validate };
}
