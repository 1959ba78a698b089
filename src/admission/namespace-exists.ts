import type { AdmissionAttributes } from '../registry/admission.ts';
import { notFound } from '../api/errors.ts';
import { type AdmissionPlugin, CREATE_UPDATE_OR_DELETE, type PluginEnvironment } from './plugin.ts';

/** Nothing is changed in a namespace that is not there (plugin/pkg/admission/namespace/exists). */
export function namespaceExists({ client }: PluginEnvironment): AdmissionPlugin {
  const namespaces = client.resource('', 'namespaces').informer;

  function validate({ namespace, group, kind }: AdmissionAttributes): void {
    if (namespace === '' || (group === '' && kind.kind === 'Namespace') || namespaces.get('', namespace)) return;
    throw notFound({ group: '', resource: 'namespaces' }, namespace);
  }
  return { name: 'NamespaceExists', operations: CREATE_UPDATE_OR_DELETE, validate };
}
