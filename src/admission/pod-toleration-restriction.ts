import { computeQosClass } from '../apis/core/pod/qos.ts';
import type { Namespace, Pod, Toleration } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { notFound, unknownError } from '../api/errors.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from './plugin.ts';
import { covers, mergeTolerations } from './toleration-merge.ts';

/** For namespaces that say nothing themselves. */
export interface TolerationDefaults {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

const DEFAULT_ANNOTATION = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const WHITELIST_ANNOTATION = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const MEMORY_PRESSURE: Toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

/** A namespace's pods get its tolerations, and none but those that it allows (plugin/pkg/admission/podtolerationrestriction). */
export function podTolerationRestriction({ client, kindSettings }: PluginEnvironment, defaults: TolerationDefaults): AdmissionPlugin {
  const namespaces = client.resource<Namespace>('', 'namespaces').informer;

  function tolerationsOf(name: string, annotation: string): readonly Toleration[] | undefined {
    const namespace = namespaces.get('', name);
    if (!namespace) throw notFound({ group: '', resource: 'namespaces' }, name);
    const text = namespace.metadata.annotations?.[annotation];
    return text === undefined ? undefined : parseTolerations(text);
  }

  function mutate(attributes: AdmissionAttributes): void {
    const { operation, namespace, object } = attributes;
    const { spec, status } = object as Pod;
    const extra = operation === 'CREATE' ? [...(tolerationsOf(namespace, DEFAULT_ANNOTATION) ?? defaults.default)] : [];
    const qosClass = status?.qosClass ?? computeQosClass(spec, kindSettings);
    if (qosClass !== 'BestEffort') extra.push(MEMORY_PRESSURE);
    if (extra.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], extra);
    validate(attributes);
  }

  function validate({ namespace, object }: AdmissionAttributes): void {
    const { tolerations = [] } = (object as Pod).spec;
    if (tolerations.length === 0) return;
    const own = tolerationsOf(namespace, WHITELIST_ANNOTATION);
    const allowed = own ?? defaults.whitelist;
    if (allowed.length === 0 || tolerations.every((toleration) => allowed.some((wide) => covers(wide, toleration)))) return;
    throw unknownError(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${own ? 'namespace' : 'cluster'} whitelist`);
  }
  return { name: 'PodTolerationRestriction', operations: CREATE_OR_UPDATE, targets: ['pods'], mutate, validate };
}

function parseTolerations(text: string): Toleration[] {
  if (text === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unknownError((error as Error).message);
  }
  if (value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))) {
    throw unknownError('json: cannot unmarshal into Go value of type []v1.Toleration');
  }
  return value as Toleration[];
}
