import type { FieldErrors } from '../../api/field-errors.ts';
import { labelName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { IngressClass, IngressClassParametersReference } from '../facts/types/networking-v1.ts';
import { validateDomainPrefixedPath } from '../../api/domain-prefixed-path.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateResourceBackend } from './ingress-rules.ts';

const CLUSTER = 'Cluster';
const NAMESPACE = 'Namespace';
const CONTROLLER_MAX_BYTES = 250;
export const DEFAULT_ANNOTATION = 'ingressclass.kubernetes.io/is-default-class';

/** Which controller an ingress is for. */
export const ingressClasses = defineResource<IngressClass>('networking.k8s.io/v1/ingressclasses', {
  validatesFinalizerNames: true,
  generation: 'spec',

  default({ spec }) {
    if (spec.parameters) spec.parameters.scope ??= CLUSTER;
  },

  validatesWhole: 'after',
  validate({ object: { spec } }, errors) {
    const { controller = '', parameters } = spec;
    const at = errors.at('spec', 'controller');
    if (Buffer.byteLength(controller) > CONTROLLER_MAX_BYTES) at.tooLong(CONTROLLER_MAX_BYTES);
    validateDomainPrefixedPath(controller, at);
    if (parameters) validateParameters(parameters, errors.at('spec', 'parameters'));
  },
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec.controller ?? '', old.spec.controller ?? '', errors.at('spec', 'controller')),

  cells: {
    Name: ({ metadata }) => (metadata.annotations?.[DEFAULT_ANNOTATION] === 'true' ? `${metadata.name} (default)` : (metadata.name ?? '')),
    Controller: ({ spec }) => spec.controller ?? '',
    Parameters: ({ spec: { parameters } }) =>
      parameters ? `${parameters.kind}${parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`}/${parameters.name}` : '<none>',
  },
});

function validateParameters(parameters: IngressClassParametersReference, errors: FieldErrors): void {
  const { scope, namespace } = parameters;
  validateResourceBackend(parameters, errors);
  const at = errors.at('namespace');
  if (scope === null) errors.at('scope').required();
  else if (scope !== CLUSTER && scope !== NAMESPACE) errors.at('scope').notSupportedString(scope, [CLUSTER, NAMESPACE]);
  else if (scope === CLUSTER) {
    if (namespace !== undefined) at.forbidden("`parameters.scope` is set to 'Cluster'");
  } else if (namespace === undefined) at.required("`parameters.scope` is set to 'Namespace'");
  else for (const error of labelName(namespace, false)) at.invalid(namespace, error);
}
