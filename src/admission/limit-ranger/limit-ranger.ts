import type { LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, PodSpec } from '../../apis/facts/types/core-v1.ts';
import { defaultPod } from '../../apis/core/pod/defaults.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { aggregateMessage } from '../../api/aggregate-message.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from '../plugin.ts';
import { podAmounts } from '../pod-amounts.ts';
import { refusal } from '../refusal.ts';
import { amountsOf, claimViolations, usageViolations } from './constraints.ts';
import { applyDefaults } from './defaults.ts';

/** What a namespace lets each container, pod and claim have, and gives to containers that ask for nothing (plugin/pkg/admission/limitranger). */
export function limitRanger({ client, kindSettings }: PluginEnvironment): AdmissionPlugin {
  const ranges = client.resource<LimitRange>('', 'limitranges').informer;
  const rangesFor = (attributes: AdmissionAttributes): LimitRange[] => (isLimited(attributes) ? ranges.list(attributes.namespace) : []);

  function mutate(attributes: AdmissionAttributes): void {
    if (attributes.resource !== 'pods') return;
    const pod = attributes.object as Pod;
    const changes = rangesFor(attributes).filter((range) => applyDefaults(pod, range));
    // What pods have as a whole follows from what their containers have (upstream defaults again when it reads what it stored).
    if (changes.length > 0 && pod.spec.resources) defaultPod(pod, { settings: kindSettings, sentEmpty: attributes.sentEmpty });
  }

  function validate(attributes: AdmissionAttributes): void {
    for (const { spec } of rangesFor(attributes)) {
      const limits = spec.limits ?? [];
      const violations =
        attributes.resource === 'pods'
          ? podViolations(limits, (attributes.object as Pod).spec)
          : violationsOfClaim(limits, attributes.object as PersistentVolumeClaim);
      if (violations.length > 0) throw refusal(attributes, aggregateMessage(violations));
    }
  }
  return { name: 'LimitRanger', operations: CREATE_OR_UPDATE, targets: ['pods', 'pods/resize', 'persistentvolumeclaims'], mutate, validate };
}

/** Containers change only by a resize; and what is on its way out is let go. */
function isLimited({ operation, resource, subresource, oldObject }: AdmissionAttributes): boolean {
  if (resource === 'pods' && (operation === 'UPDATE') !== (subresource === 'resize')) return false;
  return oldObject?.metadata.deletionTimestamp === undefined;
}

function podViolations(limits: readonly LimitRangeItem[], spec: PodSpec): string[] {
  return limits.flatMap((limit) => {
    if (limit.type === 'Container') {
      const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
      return containers.flatMap(({ resources }) => usageViolations(limit, amountsOf(resources.requests), amountsOf(resources.limits)));
    }
    return limit.type === 'Pod' ? usageViolations(limit, podAmounts(spec, 'requests'), podAmounts(spec, 'limits')) : [];
  });
}

const violationsOfClaim = (limits: readonly LimitRangeItem[], { spec }: PersistentVolumeClaim): string[] =>
  limits.filter(({ type }) => type === 'PersistentVolumeClaim').flatMap((limit) => claimViolations(limit, amountsOf(spec.resources.requests)));
