import type { Binding, Node, Pod } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import type { ApiObject } from '../api/api-object.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** A pod carries the zone and region of the node it is put on; a binding hands its labels to the pod (plugin/pkg/admission/podtopologylabels; KEP-4742). */
export function podTopologyLabels({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const nodes = client.resource<Node>('', 'nodes').informer;
  const isOn = isEnabled('PodTopologyLabelsAdmission');

  function mutate({ subresource, object }: AdmissionAttributes): void {
    const nodeName = subresource === '' ? (object as Pod).spec.nodeName : targetNode(object as Binding);
    const labels = nodeName ? nodes.get('', nodeName)?.metadata.labels : undefined;
    if (labels) copyTopology(labels, object!);
  }
  return { name: 'PodTopologyLabels', operations: CREATE, targets: ['pods', 'pods/binding'], ...(isOn && { mutate }) };
}

const targetNode = ({ target }: Binding): string | undefined => (target.kind === 'Node' ? target.name : undefined);

function copyTopology(labels: Readonly<Record<string, string>>, { metadata }: ApiObject): void {
  for (const key of TOPOLOGY_LABELS) {
    const value = labels[key];
    if (value !== undefined) metadata.labels = { ...metadata.labels, [key]: value };
  }
}
