import type { KindContext } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { ageSince } from '../../util/duration.ts';
import { timeOf } from '../../util/time.ts';
import { defineResource } from '../define.ts';
import type { DeviceTaint as TaintV1 } from '../facts/types/resource-v1.ts';
import type { DeviceTaintRule, DeviceTaintSelector } from '../facts/types/resource-v1alpha3.ts';
import { sameInVersion } from '../same-in-version.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateConditions } from '../validation/conditions.ts';
import { validateDriverName, validateLabelLikeName, validatePoolName } from './names.ts';
import { validateTaint } from './taints.ts';

const MAX_CONDITIONS = 8;

/** A taint that an administrator puts on devices, whatever their driver says of them. */
export const deviceTaintRules = defineResource<DeviceTaintRule>('resource.k8s.io/v1alpha3/devicetaintrules', {
  validatesFinalizerNames: true,
  deprecation: 'resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in v1.39+',
  default: fillDefaults,
  alsoServed: [{ ...sameInVersion('resource.k8s.io', 'v1alpha3', 'v1beta2'), default: (object, context) => fillDefaults(object as DeviceTaintRule, context) }],
  generation: 'spec',

  /** Its time is that of its effect: a new effect starts anew, unless the client says when. */
  prepareForUpdate({ object, old, now }) {
    const { taint } = object.spec;
    const before = old.spec.taint;
    if (taint.effect !== before.effect && taint.timeAdded === before.timeAdded) taint.timeAdded = timeOf(now);
  },

  validate({ object: { spec } }, errors) {
    validateSelector(spec.deviceSelector, errors.at('spec', 'deviceSelector'));
    validateTaint(spec.taint as TaintV1, errors.at('spec', 'taint'));
  },
  validateUpdate({ object: { spec }, old }, errors) {
    validateSelector(spec.deviceSelector, errors.at('spec', 'deviceSelector'));
    validateTaint(spec.taint as TaintV1, errors.at('spec', 'taint'), old.spec.taint.effect);
  },

  subresources: {
    status: {
      hasNoTable: true,
      update: {
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate({ object: { status } }, errors) {
          const { conditions = [] } = status ?? {};
          validateConditions(conditions, errors.at('status', 'conditions'));
          if (conditions.length > MAX_CONDITIONS) errors.at('status', 'conditions').tooMany(conditions.length, MAX_CONDITIONS);
        },
      },
    },
  },

  cells: {
    Key: ({ spec }) => spec.taint.key,
    Value: ({ spec }) => spec.taint.value ?? '',
    Effect: ({ spec }) => spec.taint.effect,
    TimeAdded: ({ spec }, now) => (spec.taint.timeAdded ? ageSince(spec.taint.timeAdded, now) : ''),
  },
});

function fillDefaults({ spec: { taint } }: DeviceTaintRule, { now }: KindContext): void {
  taint.timeAdded ??= timeOf(now);
}

function validateSelector(selector: DeviceTaintSelector | undefined, errors: FieldErrors): void {
  const { driver, pool, device } = selector ?? {};
  if (driver !== undefined) validateDriverName(driver, errors.at('driver'));
  if (pool !== undefined) validatePoolName(pool, errors.at('pool'));
  if (device !== undefined) validateLabelLikeName(device, errors.at('device'));
}
