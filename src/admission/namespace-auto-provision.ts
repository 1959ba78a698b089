import type { AdmissionAttributes } from '../registry/admission.ts';
import { isApiError } from '../api/errors.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';
import { refusal } from './refusal.ts';

/** Makes the namespace that something is put into, where it is missing (plugin/pkg/admission/namespace/autoprovision). */
export function namespaceAutoProvision({ client }: PluginEnvironment): AdmissionPlugin {
  const namespaces = client.resource('', 'namespaces');

  async function provide(attributes: AdmissionAttributes): Promise<void> {
    try {
      await namespaces.create('', { kind: 'Namespace', apiVersion: 'v1', metadata: { name: attributes.namespace } });
    } catch (error) {
      if (!isApiError(error)) throw error;
      if (error.reason !== 'AlreadyExists') throw refusal(attributes, error.message);
    }
  }

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    const { namespace, group, kind, dryRun } = attributes;
    if (dryRun || namespace === '' || (group === '' && kind.kind === 'Namespace') || namespaces.informer.get('', namespace)) return;
    return provide(attributes);
  }
  return { name: 'NamespaceAutoProvision', operations: CREATE, mutate };
}
