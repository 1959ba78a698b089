import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type { Lease, LeaseSpec } from '../facts/types/coordination-v1.ts';
import { isFeatureOn } from '../features.ts';
import { validateNonNegative } from '../validation/non-negative.ts';
import { validateStrategy } from './strategy.ts';

/** For leases that the server hands out itself (KEP-4355). */
const COORDINATED_FIELDS = ['strategy', 'preferredHolder'] as const;

/** Held by one of several, for as long as it keeps renewing it. */
export const leases = defineResource<Lease>('coordination.k8s.io/v1/leases', {
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,

  prepareForCreate: ({ object: { spec }, settings }) => dropDisabled(spec, undefined, settings),
  prepareForUpdate: ({ object: { spec }, old, settings }) => dropDisabled(spec, old.spec, settings),

  validate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),

  cells: { Holder: ({ spec }) => spec.holderIdentity ?? '' },
});

function dropDisabled(spec: LeaseSpec, old: LeaseSpec | undefined, settings: KindSettings): void {
  if (isFeatureOn(settings, 'CoordinatedLeaderElection')) return;
  for (const field of COORDINATED_FIELDS) if (old?.[field] === undefined) delete spec[field];
}

function validateSpec({ leaseDurationSeconds, leaseTransitions, strategy, preferredHolder }: LeaseSpec, errors: FieldErrors): void {
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
    errors.at('leaseDurationSeconds').invalid(leaseDurationSeconds, 'must be greater than 0');
  validateNonNegative(leaseTransitions, errors.at('leaseTransitions'));
  if (strategy !== undefined) validateStrategy(strategy, errors.at('strategy'));
  if (preferredHolder && !strategy) errors.at('preferredHolder').forbidden('may only be specified if `strategy` is defined');
}
