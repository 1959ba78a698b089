import type { FieldErrors } from '../../util/field-errors.ts';
import { qualifiedNameErrors } from '../../util/names.ts';
import { defineResource } from '../define.ts';
import type { Lease, LeaseSpec } from '../facts/types/coordination-v1.ts';
import { validateNonNegative } from '../validation/non-negative.ts';

const STRATEGIES = ['OldestEmulationVersion'];
/** For leases that the server would hand out itself (KEP-4355), which is off. */
const COORDINATED_FIELDS = ['strategy', 'preferredHolder'] as const;

/** Held by one of several, for as long as it keeps renewing it. */
export const leases = defineResource<Lease>('coordination.k8s.io/v1/leases', {
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,

  prepareForCreate({ spec }) {
    for (const field of COORDINATED_FIELDS) delete spec[field];
  },
  prepareForUpdate({ spec }, old) {
    for (const field of COORDINATED_FIELDS) if (old.spec[field] === undefined) delete spec[field];
  },

  validate: ({ spec }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate: ({ spec }, _old, errors) => validateSpec(spec, errors.at('spec')),

  cells: { Holder: ({ spec }) => spec.holderIdentity ?? '' },
});

function validateSpec({ leaseDurationSeconds, leaseTransitions, strategy, preferredHolder }: LeaseSpec, errors: FieldErrors): void {
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
    errors.at('leaseDurationSeconds').invalid(leaseDurationSeconds, 'must be greater than 0');
  validateNonNegative(leaseTransitions, errors.at('leaseTransitions'));
  if (strategy !== undefined) validateStrategy(strategy, errors.at('strategy', 'strategy'));
  if (preferredHolder && !strategy) errors.at('preferredHolder').forbidden('may only be specified if `strategy` is defined');
}

function validateStrategy(strategy: string, errors: FieldErrors): void {
  if (strategy.includes('/')) for (const error of qualifiedNameErrors(strategy)) errors.invalid(strategy, error);
  else if (!STRATEGIES.includes(strategy)) errors.notSupported(strategy, STRATEGIES);
}
