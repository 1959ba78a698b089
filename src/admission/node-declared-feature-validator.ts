import { isSidecar } from '../apis/core/pod/containers-of.ts';
import type { Node, Pod, PodSpec } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';

/** Features of nodes that a change of a running pod can need, by name (component-helpers/nodedeclaredfeatures/features; KEP-5328). */
const NEEDS: readonly (readonly [feature: string, isNeeded: (spec: PodSpec, old: PodSpec) => boolean])[] = [
  ['InPlacePodLevelResourcesVerticalScaling', (spec, old) => !equalJson(spec.resources, old.resources)],
  ['InPlacePodVerticalScalingInitContainers', resizesInitContainer],
];

function resizesInitContainer(spec: PodSpec, old: PodSpec): boolean {
  return (old.initContainers ?? []).some(
    (container, index) => !isSidecar(container) && !equalJson(container.resources, spec.initContainers?.[index]?.resources),
  );
}

/** What a bound pod is changed to must be something that its node has declared it can do (plugin/pkg/admission/nodedeclaredfeatures). */
export function nodeDeclaredFeatureValidator({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const nodes = client.resource<Node>('', 'nodes').informer;
  const isOn = isEnabled('NodeDeclaredFeatures');

  function validate(attributes: AdmissionAttributes): void {
    const pod = attributes.object as Pod;
    const old = attributes.oldObject as Pod;
    const { nodeName } = pod.spec;
    if (!nodeName || old.metadata.generation === pod.metadata.generation) return;
    const needed = NEEDS.filter(([, isNeeded]) => isNeeded(pod.spec, old.spec)).map(([feature]) => feature);
    if (needed.length === 0) return;
    const node = nodes.get('', nodeName);
    if (!node) throw refusal(attributes, `node ${quote(nodeName)} not found`);
    const missing = needed.filter((feature) => !node.status.declaredFeatures?.includes(feature));
    if (missing.length > 0) throw refusal(attributes, `pod update requires features ${missing.join(', ')} which are not available on node ${quote(nodeName)}`);
  }
  return { name: 'NodeDeclaredFeatureValidator', operations: UPDATE, targets: ['pods', 'pods/resize'], ...(isOn && { validate }) };
}
