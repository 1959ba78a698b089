import type { Pod } from '../apis/facts/types/core-v1.ts';
import type { RuntimeClass, Scheduling } from '../apis/facts/types/node-v1.ts';
import type { Informer } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { unknownError } from '../api/errors.ts';
import { quote } from '../util/go-quote.ts';
import { compareQuantities, parseQuantity } from '../api/quantity.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';
import { refusal, lookupNameError } from './refusal.ts';
import { mergeTolerations } from './toleration-merge.ts';

type Amounts = Readonly<Record<string, string>>;

const OVERHEAD_DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** What a runtime costs beside the containers, and where it can be found (plugin/pkg/admission/runtimeclass; KEP-585, KEP-688). */
export function runtimeClass({ client }: PluginEnvironment): AdmissionPlugin {
  const classes = client.resource<RuntimeClass>('node.k8s.io', 'runtimeclasses').informer;

  function mutate(attributes: AdmissionAttributes): void {
    const pod = attributes.object as Pod;
    const found = classOf(attributes, pod, classes);
    if (found?.overhead) setOverhead(attributes, pod, found.overhead.podFixed ?? {});
    if (found?.scheduling) setScheduling(attributes, pod, found.scheduling);
  }

  function validate(attributes: AdmissionAttributes): void {
    const pod = attributes.object as Pod;
    const found = classOf(attributes, pod, classes);
    if (found?.overhead) {
      if (!equalAmounts(found.overhead.podFixed ?? {}, pod.spec.overhead ?? {})) throw refusal(attributes, OVERHEAD_DIFFERS);
    } else if (pod.spec.overhead || attributes.sentEmpty.at('spec').has('overhead'))
      throw refusal(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
  return { name: 'RuntimeClass', operations: CREATE, targets: ['pods'], mutate, validate };
}

function classOf(attributes: AdmissionAttributes, { spec }: Pod, classes: Informer<RuntimeClass>): RuntimeClass | undefined {
  const name = spec.runtimeClassName;
  if (name === undefined) return undefined;
  const found = name === '' ? undefined : classes.get('', name);
  const why = lookupNameError(name);
  if (why !== undefined) throw unknownError(why);
  if (!found) throw refusal(attributes, `pod rejected: RuntimeClass ${quote(name)} not found`);
  return found;
}

function setOverhead(attributes: AdmissionAttributes, { spec }: Pod, overhead: Amounts): void {
  const given = spec.overhead ?? {};
  if (Object.keys(given).length > 0 && !equalAmounts(given, overhead)) throw refusal(attributes, OVERHEAD_DIFFERS);
  spec.overhead = { ...overhead };
}

function equalAmounts(a: Amounts, b: Amounts): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && compareQuantities(parseQuantity(a[name]!), parseQuantity(b[name]!)) === 0);
}

function setScheduling(attributes: AdmissionAttributes, { spec }: Pod, { nodeSelector = {}, tolerations = [] }: Scheduling): void {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector && Object.hasOwn(spec.nodeSelector, key) ? spec.nodeSelector[key] : value;
    if (own !== value) throw refusal(attributes, `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`);
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations);
  if (merged.length > 0) spec.tolerations = merged;
}
