import type { ClusterTrustBundle } from '../apis/facts/types/certificates-v1beta1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from './plugin.ts';
import { refusal } from './refusal.ts';
import { maySignAs } from './certificate-signers.ts';
import type { ApiObject } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';

/** A bundle of a signer is written only by who has the verb `attest` on it (plugin/pkg/admission/certificates/ctbattest). */
export function clusterTrustBundleAttest({ authorizer, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const hasBundles = isEnabled('ClusterTrustBundle');

  async function validate(attributes: AdmissionAttributes): Promise<void> {
    const signerName = (attributes.object as ClusterTrustBundle).spec.signerName ?? '';
    if (!hasBundles || signerName === '') return;
    if (attributes.operation === 'UPDATE' && isOnlyForCollector(attributes.object!, attributes.oldObject!)) return;
    if (await maySignAs(authorizer, attributes.user, 'attest', signerName)) return;
    throw refusal(attributes, `user not permitted to attest for signerName ${quote(signerName)}`);
  }
  return { name: 'ClusterTrustBundleAttest', operations: CREATE_OR_UPDATE, targets: ['clustertrustbundles.certificates.k8s.io'], validate };
}

/** Whether an update only touches what the garbage collector needs to: owners and finalizers (pkg/registry/rbac IsOnlyMutatingGCFields). */
const isOnlyForCollector = (object: ApiObject, old: ApiObject): boolean => equalJson(withoutCollectorFields(object), withoutCollectorFields(old));

function withoutCollectorFields({ metadata, ...rest }: ApiObject): object {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managed, ...others } = metadata;
  return { ...rest, metadata: others };
}
