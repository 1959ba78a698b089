import { type AdmissionPlugin, CREATE_OR_UPDATE, UPDATE } from '../admission/plugin.ts';
import { maySignAs } from '../admission/certificate-signers.ts';
import { paramAccessCheck } from '../apis/admissionregistration/param-access.ts';
import type { ParamKind } from '../apis/facts/types/admissionregistration-v1.ts';
import type { PodCertificateRequest } from '../apis/facts/types/certificates-v1beta1.ts';
import { claimAccessCheck } from '../apis/resource/claim-access.ts';
import { POLICY_TARGETS, type RuleResolver, escalationCheck } from '../authorization/escalation.ts';
import type { Client } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import type { ApiObject } from '../api/api-object.ts';
import { invalid, notFound } from '../api/errors.ts';
import { FieldErrors } from '../api/field-errors.ts';
import { quote } from '../util/go-quote.ts';
import { equalJson } from '../encoding/json-equal.ts';

export interface AccessCheckOptions {
  client: Client;
  authorizer: Authorizer;
  rules: RuleResolver;
  /** The resource of a kind that is served; undefined where there is none. */
  resourceOf(group: string, version: string, kind: string): string | undefined;
}

const POLICY_GROUP = 'admissionregistration.k8s.io';
const PARAM_TARGETS = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'].map(
  (resource) => `${resource}.${POLICY_GROUP}`,
);
const CLAIM_TARGETS = ['resourceclaims.resource.k8s.io', 'resourceclaims.resource.k8s.io/status', 'resourceclaimtemplates.resource.k8s.io'];

/**
 * Rights that a write needs beyond the verb: nobody hands out what he does not have himself. Upstream has these around the kinds' storage, where no flag
 * switches them off; here they stand behind the plug-ins.
 */
export function accessChecks({ client, authorizer, rules, resourceOf }: AccessCheckOptions): AdmissionPlugin[] {
  const paramKindOf = async (resource: string, policy: string): Promise<ParamKind | undefined> => {
    const found = await client.resource<ApiObject & { spec: { paramKind?: ParamKind } }>(POLICY_GROUP, resource).get('', policy);
    if (!found) throw notFound({ group: POLICY_GROUP, resource }, policy);
    return found.spec.paramKind;
  };
  const labelsOf = (namespace: string): Record<string, string> | undefined => {
    const found = client.resource('', 'namespaces').informer.get('', namespace);
    return found && (found.metadata.labels ?? {});
  };
  return [
    { name: 'escalation', operations: CREATE_OR_UPDATE, targets: POLICY_TARGETS, ...escalationCheck(rules, authorizer) },
    { name: 'policy parameters', operations: CREATE_OR_UPDATE, targets: PARAM_TARGETS, ...paramAccessCheck(authorizer, { paramKindOf, resourceOf }) },
    { name: 'pod certificates', operations: UPDATE, targets: ['podcertificaterequests.certificates.k8s.io/status'], validate: podCertificateCheck(authorizer) },
    { name: 'device claims', operations: CREATE_OR_UPDATE, targets: CLAIM_TARGETS, ...claimAccessCheck(authorizer, labelsOf) },
  ];
}

/** The outcome of a pod's request for a certificate is its signer's to write (pkg/registry/certificates/podcertificaterequest). */
function podCertificateCheck(authorizer: Authorizer): (attributes: AdmissionAttributes) => Promise<void> {
  return async ({ kind, name, user, object, oldObject }) => {
    const { spec, status } = oldObject as PodCertificateRequest;
    if (equalJson(status, (object as PodCertificateRequest).status) || (await maySignAs(authorizer, user, 'sign', spec.signerName))) return;
    const errors = new FieldErrors();
    errors.at('spec', 'signerName').forbidden(`User ${quote(user.name)} is not permitted to "sign" for signer ${quote(spec.signerName)}`);
    throw invalid(kind, name, errors.list);
  };
}
