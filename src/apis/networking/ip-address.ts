import { ageSince } from '../../util/duration.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { qualifiedResource } from '../../api/api-object.ts';
import { dns1123SubdomainErrors, pathSegmentErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { IPAddress, ParentReference } from '../facts/types/networking-v1.ts';
import { sameInVersion } from '../same-in-version.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { canonicalIpProblem } from '../validation/ip-address.ts';

const PARENT_REF: InternalFields = [
  ['Group', 'group', ''],
  ['Resource', 'resource', ''],
  ['Namespace', 'namespace', ''],
  ['Name', 'name', ''],
];

/** An address of a service range that is taken, by its name, and by whom. */
export const ipAddresses = defineResource<IPAddress>('networking.k8s.io/v1/ipaddresses', {
  validatesFinalizerNames: true,
  alsoServed: [sameInVersion('networking.k8s.io', 'v1', 'v1beta1', 'networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+')],
  naming: {
    errors(name) {
      const problem = canonicalIpProblem(name);
      return problem === undefined ? [] : [problem];
    },
    /** A random ending would make it another address. */
    generate: (prefix) => prefix,
  },

  validatesWhole: 'before',
  validate({ object: { spec } }, errors) {
    const at = errors.at('spec', 'parentRef');
    if (spec.parentRef) validateParent(spec.parentRef, at);
    else at.required();
  },
  validateUpdate({ object: { spec }, old }, errors) {
    validateUnchanged(spec.parentRef, old.spec.parentRef, errors.at('spec', 'parentRef'), () => internalForm(spec.parentRef, PARENT_REF));
  },

  cells: { ParentRef: ({ spec }) => (spec.parentRef ? formatParent(spec.parentRef) : '<none>') },
  undeclaredCells: [({ metadata }, now) => ageSince(metadata.creationTimestamp, now)],
});

function validateParent(parent: ParentReference, errors: FieldErrors): void {
  const { group = '', resource = '', name = '', namespace = '' } = parent;
  if (group !== '') for (const error of dns1123SubdomainErrors(group)) errors.at('group').invalid(group, error);
  for (const [field, value] of [
    ['resource', resource],
    ['name', name],
  ] as const) {
    if (value === '') errors.at(field).required();
    else for (const error of pathSegmentErrors(value)) errors.at(field).invalid(value, error);
  }
  for (const error of pathSegmentErrors(namespace)) errors.at('namespace').invalid(namespace, error);
}

/** `services/default/kubernetes`. */
function formatParent({ group = '', resource = '', namespace = '', name = '' }: ParentReference): string {
  return [qualifiedResource({ group, resource }).toLowerCase(), ...(namespace === '' ? [] : [namespace]), name].join('/');
}
