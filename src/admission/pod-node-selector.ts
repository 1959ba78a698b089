import type { Namespace, Pod } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { forbidden, internalError, unknownError } from '../api/errors.ts';
import { type AdmissionPlugin, CREATE, type PluginEnvironment } from './plugin.ts';

/** Selectors by namespace: the only labels that its pods may select nodes by. */
export type NodeSelectors = Readonly<Record<string, string>>;

const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
/** In place of a namespace's name: what pods select by where their namespace has no annotation. */
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';
const PODS = { group: '', resource: 'pods' };

/** A namespace's pods run on its nodes (plugin/pkg/admission/podnodeselector). */
export function podNodeSelector({ client }: PluginEnvironment, selectors: NodeSelectors): AdmissionPlugin {
  const namespaces = client.resource<Namespace>('', 'namespaces').informer;

  function selectorOf(name: string): ReadonlyMap<string, string> {
    const namespace = namespaces.get('', name);
    if (!namespace) throw internalError(`namespace ${name} does not exist`);
    return labelsOf(namespace.metadata.annotations?.[ANNOTATION] ?? textIn(selectors, CLUSTER_DEFAULT));
  }

  function mutate(attributes: AdmissionAttributes): void {
    const { spec, metadata } = attributes.object as Pod;
    const wanted = selectorOf(attributes.namespace);
    refuseConflicts(wanted, spec.nodeSelector, metadata.name);
    if (wanted.size > 0) spec.nodeSelector = { ...Object.fromEntries(wanted), ...spec.nodeSelector };
    validate(attributes);
  }

  function validate({ object, namespace }: AdmissionAttributes): void {
    const { spec, metadata } = object as Pod;
    refuseConflicts(selectorOf(namespace), spec.nodeSelector, metadata.name);
    const allowed = labelsOf(textIn(selectors, namespace));
    const isOutside = allowed.size > 0 && Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => allowed.get(key) !== value);
    if (isOutside) throw forbidden(PODS, metadata.name ?? '', 'pod node label selector labels conflict with its namespace whitelist');
  }
  return { name: 'PodNodeSelector', operations: CREATE, targets: ['pods'], mutate, validate };
}

const textIn = (selectors: NodeSelectors, name: string): string => (Object.hasOwn(selectors, name) ? selectors[name]! : '');

function refuseConflicts(wanted: ReadonlyMap<string, string>, given: Record<string, string> = {}, podName = ''): void {
  const hasConflict = [...wanted].some(([key, value]) => Object.hasOwn(given, key) && given[key] !== value);
  if (hasConflict) throw forbidden(PODS, podName, 'pod node label selector conflicts with its namespace node label selector');
}

/** `a=b,c=d` and nothing else (apimachinery/pkg/labels ConvertSelectorToLabelsMap). */
function labelsOf(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  if (text === '') return labels;
  for (const part of text.split(',')) {
    const [key = '', value, ...more] = part.split('=');
    if (value === undefined || more.length > 0) throw unknownError(`invalid selector: [${text.split(',').join(' ')}]`);
    labels.set(key.trim(), value.trim());
  }
  return labels;
}
