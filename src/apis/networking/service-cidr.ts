import type { FieldErrors } from '../../api/field-errors.ts';
import { defineResource } from '../define.ts';
import type { ServiceCIDR, ServiceCIDRSpec } from '../facts/types/networking-v1.ts';
import { sameInVersion } from '../same-in-version.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { cidrFamilyOf, validateCanonicalCidr } from '../validation/cidr.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';

const IMMUTABLE = 'field is immutable';

/** A range that addresses of services are taken from, one for each family at most. */
export const serviceCidrs = defineResource<ServiceCIDR>('networking.k8s.io/v1/servicecidrs', {
  validatesFinalizerNames: true,
  alsoServed: [sameInVersion('networking.k8s.io', 'v1', 'v1beta1', 'networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+')],

  validate: ({ object: { spec } }, errors) => validateCidrs(spec, errors.at('spec', 'cidrs')),
  validateUpdate: ({ object: { spec }, old }, errors) => validateCidrsUpdate(spec, old.spec.cidrs ?? [], errors.at('spec', 'cidrs')),

  subresources: {
    status: {
      update: {
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate: ({ object: { metadata } }, errors) => validateFinalizerNames(metadata, errors),
      },
    },
  },

  cells: { CIDRs: ({ spec }) => (spec.cidrs ?? []).join(',') },
});

function validateCidrs({ cidrs = [] }: ServiceCIDRSpec, errors: FieldErrors): void {
  if (cidrs.length === 0) return errors.required('at least one CIDR required');
  if (cidrs.length > 2) return errors.invalid({ CIDRs: cidrs }, 'may only hold up to 2 values');
  for (const [index, cidr] of cidrs.entries()) validateCanonicalCidr(cidr, errors.index(index));
  const [first, second] = cidrs.map(cidrFamilyOf);
  if (cidrs.length === 2 && first !== undefined && first === second)
    errors.invalid(cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64');
}

/** Nothing changes, but that a second family may be added. */
function validateCidrsUpdate(spec: ServiceCIDRSpec, old: readonly string[], errors: FieldErrors): void {
  const cidrs = spec.cidrs ?? [];
  const isSecondAdded = old.length === 1 && cidrs.length === 2;
  if (cidrs.length !== old.length && !isSecondAdded) return errors.invalid(spec.cidrs ?? null, IMMUTABLE);
  for (const [index, cidr] of old.entries()) if (cidrs[index] !== cidr) errors.index(index).invalid(cidrs[index], IMMUTABLE);
  if (isSecondAdded) validateCidrs(spec, errors);
}
