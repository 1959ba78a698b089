import type { AdmissionAttributes } from '../registry/admission.ts';
import type { ApiObject } from '../api/api-object.ts';
import { forbidden, notFound } from '../api/errors.ts';
import type { AdmissionPlugin, PluginEnvironment } from './plugin.ts';
import { refusalWithCause } from './refusal.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** They hold what a cluster cannot run without. */
const PROTECTED = new Set(['default', 'kube-system', 'kube-public']);

/** Reviews ask about a namespace; they put nothing into it. */
const isAccessReview = ({ group, resource }: AdmissionAttributes): boolean => group === 'authorization.k8s.io' && resource === 'localsubjectaccessreviews';

/**
 * Nothing is made in a namespace that is missing or going away, and the namespaces that a cluster rests on stay
 * (apiserver/pkg/admission/plugin/namespace/lifecycle).
 */
export function namespaceLifecycle({ client }: PluginEnvironment): AdmissionPlugin {
  const namespaces = client.resource<ApiObject & { status?: { phase?: string } }>('', 'namespaces').informer;

  function mutate(attributes: AdmissionAttributes): void {
    const { operation, namespace, name, group, resource } = attributes;
    const isNamespace = group === '' && resource === 'namespaces';
    if (isNamespace && operation === 'DELETE' && PROTECTED.has(name)) throw forbidden(NAMESPACES, name, 'this namespace may not be deleted');
    if (isNamespace || namespace === '' || operation === 'DELETE' || isAccessReview(attributes)) return;
    const found = namespaces.get('', namespace);
    if (!found) throw notFound(NAMESPACES, namespace);
    if (operation !== 'CREATE' || found.status?.phase !== 'Terminating') return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw refusalWithCause(attributes, why, {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    });
  }
  return { name: 'NamespaceLifecycle', operations: new Set(['CREATE', 'UPDATE', 'DELETE']), mutate };
}
