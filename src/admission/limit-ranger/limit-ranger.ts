import type { LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, PodSpec } from '../../apis/facts/types/core-v1.ts';
import { defaultPod } from '../../apis/core/pod/defaults.ts';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import { aggregateMessage } from '../../api/aggregate-message.ts';
import { requestEntityTooLarge } from '../../api/errors.ts';
import { LIMITS } from '../../util/limits.ts';
import { type SlicedWork, runAtOnce, runInSlices, runSliced } from '../../util/time-slice.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from '../plugin.ts';
import { podAmounts } from '../pod-amounts.ts';
import { refusal } from '../refusal.ts';
import { amountsOf, claimViolations, usageViolations } from './constraints.ts';
import { applyDefaults } from './defaults.ts';

/** What a namespace lets each container, pod and claim have, and gives to containers that ask for nothing (plugin/pkg/admission/limitranger). */
export function limitRanger({ client, kindSettings }: PluginEnvironment): AdmissionPlugin {
  const ranges = client.resource<LimitRange>('', 'limitranges').informer;
  const rangesFor = (attributes: AdmissionAttributes): LimitRange[] => (isLimited(attributes) ? ranges.list(attributes.namespace) : []);

  function mutate(attributes: AdmissionAttributes): Promise<void> | void {
    if (attributes.resource !== 'pods') return;
    const pod = attributes.object as Pod;
    const found = rangesFor(attributes);
    if (found.length === 0) return;
    const amounts = countAmounts(found, pod.spec);
    if (amounts > LIMITS.limitRangeAmounts) throw requestEntityTooLarge(`limit is ${LIMITS.limitRangeAmounts} amounts of limit ranges`);
    if (amounts <= MANY_AMOUNTS) return runAtOnce(fillIn(found, pod, attributes));
    // What is filled in is more to be looked at than what was sent.
    attributes.context.isLarge = true;
    return runInSlices(fillIn(found, pod, attributes));
  }

  function* fillIn(found: readonly LimitRange[], pod: Pod, { sentEmpty }: AdmissionAttributes): SlicedWork<void> {
    let hasChanged = false;
    for (const range of found) {
      if (yield* applyDefaults(pod, range)) hasChanged = true;
    }
    // What pods have as a whole follows from what their containers have (upstream defaults again when it reads what it stored).
    if (hasChanged && pod.spec.resources) defaultPod(pod, { settings: kindSettings, sentEmpty });
  }

  function validate(attributes: AdmissionAttributes): Promise<void> | void {
    const found = rangesFor(attributes);
    if (found.length === 0) return;
    const isMany = attributes.resource === 'pods' && countAmounts(found, (attributes.object as Pod).spec) > MANY_AMOUNTS;
    return runSliced(refuseViolations(found, attributes), isMany);
  }
  return { name: 'LimitRanger', operations: CREATE_OR_UPDATE, targets: ['pods', 'pods/resize', 'persistentvolumeclaims'], mutate, validate };
}

/** Beyond this, others have their turn in between. */
const MANY_AMOUNTS = 500;

/** How many amounts there are to be compared and filled in. */
function countAmounts(ranges: readonly LimitRange[], { containers, initContainers }: PodSpec): number {
  const sizeOf = (amounts: object | undefined): number => (amounts === undefined ? 0 : Object.keys(amounts).length);
  const items = ranges.flatMap(({ spec }) => spec.limits ?? []).filter(({ type }) => type === 'Container' || type === 'Pod');
  const named = items.map((item) =>
    [item.min, item.max, item.default, item.defaultRequest, item.maxLimitRequestRatio].reduce((sum, each) => sum + sizeOf(each), 0),
  );
  return named.reduce((sum, each) => sum + each, 0) * ((containers?.length ?? 0) + (initContainers?.length ?? 0));
}

function* refuseViolations(ranges: readonly LimitRange[], attributes: AdmissionAttributes): SlicedWork<void> {
  for (const { spec } of ranges) {
    const limits = spec.limits ?? [];
    const violations =
      attributes.resource === 'pods'
        ? yield* podViolations(limits, (attributes.object as Pod).spec)
        : violationsOfClaim(limits, attributes.object as PersistentVolumeClaim);
    if (violations.length > 0) throw refusal(attributes, aggregateMessage(violations));
    yield;
  }
}

/** Containers change only by a resize; and what is on its way out is let go. */
function isLimited({ operation, resource, subresource, oldObject }: AdmissionAttributes): boolean {
  if (resource === 'pods' && (operation === 'UPDATE') !== (subresource === 'resize')) return false;
  return oldObject?.metadata.deletionTimestamp === undefined;
}

function* podViolations(limits: readonly LimitRangeItem[], spec: PodSpec): SlicedWork<string[]> {
  const found: string[] = [];
  for (const limit of limits) {
    if (limit.type === 'Pod') found.push(...usageViolations(limit, podAmounts(spec, 'requests'), podAmounts(spec, 'limits')));
    if (limit.type !== 'Container') continue;
    for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      found.push(...usageViolations(limit, amountsOf(resources.requests), amountsOf(resources.limits)));
      yield;
    }
  }
  return found;
}

const violationsOfClaim = (limits: readonly LimitRangeItem[], { spec }: PersistentVolumeClaim): string[] =>
  limits.filter(({ type }) => type === 'PersistentVolumeClaim').flatMap((limit) => claimViolations(limit, amountsOf(spec.resources.requests)));
