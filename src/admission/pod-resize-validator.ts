import type { Node, Pod } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { quote } from '../util/go-quote.ts';
import { type Quantity, addQuantities, compareQuantities, parseQuantity, quantityAt } from '../api/quantity.ts';
import { type AdmissionPlugin, type PluginEnvironment, UPDATE } from './plugin.ts';
import { podAmounts } from './pod-amounts.ts';
import { refusal, refusalWithCause } from './refusal.ts';

const OS_LABEL = 'kubernetes.io/os';
/** What a resize can change, and the power of ten in which messages count it. */
const RESIZABLE: readonly (readonly [resource: string, exponent: number])[] = [
  ['cpu', -3],
  ['memory', 0],
];
const ZERO = parseQuantity('0');

/** A pod that runs is resized only on a node that can do it and is large enough (plugin/pkg/admission/podresize; KEP-1287). */
export function podResizeValidator({ client, isEnabled }: PluginEnvironment): AdmissionPlugin {
  const nodes = client.resource<Node>('', 'nodes').informer;
  const isOn = isEnabled('InPlacePodVerticalScaling');

  function validate(attributes: AdmissionAttributes): void {
    const pod = attributes.object as Pod;
    const { nodeName } = pod.spec;
    if (!nodeName || attributes.oldObject!.metadata.generation === pod.metadata.generation) return;
    const node = nodes.get('', nodeName);
    if (!node) throw refusal(attributes, `node ${quote(nodeName)} not found`);
    const os = node.metadata.labels?.[OS_LABEL] ?? 'linux';
    if (os !== 'linux')
      throw refusalWithCause(attributes, `pod resize is only supported on linux nodes, node ${quote(nodeName)} is ${quote(os)}`, {
        reason: 'UnsupportedPlatform',
      });
    const excess = excessOf(pod, node);
    if (excess.length > 0)
      throw refusalWithCause(attributes, `node didn't have enough allocatable resources: ${excess.join('; ')}`, { reason: 'NodeCapacity' });
  }
  return { name: 'PodResizeValidator', operations: UPDATE, targets: ['pods/resize'], ...(isOn && { validate }) };
}

function excessOf({ spec }: Pod, { status }: Node): string[] {
  const requests = podAmounts(spec, 'requests');
  return RESIZABLE.flatMap(([name, exponent]) => {
    const requested = addQuantities(requests.get(name) ?? ZERO, amountIn(spec.overhead, name));
    const allocatable = amountIn(status.allocatable, name);
    if (compareQuantities(requested, allocatable) <= 0) return [];
    return [`${name}, requested: ${quantityAt(requested, exponent)}, allocatable: ${quantityAt(allocatable, exponent)}`];
  });
}

const amountIn = (list: Readonly<Record<string, string>> | undefined, name: string): Quantity => parseQuantity(list?.[name] ?? '0');
