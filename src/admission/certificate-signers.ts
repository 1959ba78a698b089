import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';
import { resourceAttributes } from '../api/authorization.ts';
import type { User } from '../api/user.ts';
import type { CertificateSigningRequest } from '../apis/facts/types/certificates-v1.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import { quote } from '../util/go-quote.ts';

/** Whether someone may do `verb` for a signer, by its whole name or for its domain's signers all (pkg/certauthorization). */
export async function maySignAs(authorizer: Authorizer, user: User, verb: 'approve' | 'sign' | 'attest', signerName: string): Promise<boolean> {
  for (const name of [signerName, `${signerName.split('/', 1)[0]}/*`]) {
    const { decision } = await authorizer.authorize(resourceAttributes({ user, verb, apiGroup: 'certificates.k8s.io', resource: 'signers', name }));
    if (decision === 'allow') return true;
  }
  return false;
}

/** Approval needs the verb `approve` on the signer that the stored request names (plugin/pkg/admission/certificates/approval). */
export function certificateApproval({ authorizer }: PluginEnvironment): AdmissionPlugin {
  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const { signerName } = (attributes.oldObject as CertificateSigningRequest).spec;
    if (await maySignAs(authorizer, attributes.user, 'approve', signerName)) return;
    throw refusal(attributes, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  }
  return { name: 'CertificateApproval', operations: UPDATE, targets: ['certificatesigningrequests.certificates.k8s.io/approval'], validate };
}

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
