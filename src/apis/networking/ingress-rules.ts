import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors, label1035Name, labelName, pathSegmentErrors } from '../../api/names.ts';
import type { HTTPIngressPath, IngressBackend, IngressRule, IngressServiceBackend, ServiceBackendPort } from '../facts/types/networking-v1.ts';
import { validateHostPattern, validateNoIp } from '../validation/host-names.ts';
import { portNameErrors, validatePortNumber } from '../validation/ports.ts';

const EXACT = 'Exact';
const PREFIX = 'Prefix';
const IMPLEMENTATION_SPECIFIC = 'ImplementationSpecific';
const FORBIDDEN_IN_PATH = ['//', '/./', '/../', '%2f', '%2F'];
const FORBIDDEN_AT_END = ['/..', '/.'];

/** What an older ingress was let in with, and may keep. */
export interface IngressTolerance {
  invalidWildcardRules: boolean;
  /** KEP-5311: names that start with a digit. */
  relaxedServiceNames: boolean;
}

export function validateIngressRule(rule: IngressRule, errors: FieldErrors, tolerance: IngressTolerance): void {
  const { host = '' } = rule;
  if (host !== '') {
    validateNoIp(host, errors.at('host'));
    validateHostPattern(host, errors.at('host'));
  }
  if (!host.includes('*') || !tolerance.invalidWildcardRules) validateRuleValue(rule, errors, tolerance);
}

/** What the rule does, whatever its host. */
export function validateRuleValue({ http }: IngressRule, errors: FieldErrors, tolerance: IngressTolerance): void {
  if (!http) return;
  const at = errors.at('http', 'paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) at.required();
  for (const [index, path] of paths.entries()) validatePath(path, at.index(index), tolerance);
}

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, errors: FieldErrors, tolerance: IngressTolerance): void {
  if (pathType === null) return errors.at('pathType').required('pathType must be specified');
  const at = errors.at('path');
  if (pathType === EXACT || pathType === PREFIX) {
    if (!path.startsWith('/')) at.invalid(path, 'must be an absolute path');
    for (const part of FORBIDDEN_IN_PATH) if (path.includes(part)) at.invalid(path, `must not contain '${part}'`);
    for (const end of FORBIDDEN_AT_END) if (path.endsWith(end)) at.invalid(path, `cannot end with '${end}'`);
  } else if (pathType === IMPLEMENTATION_SPECIFIC) {
    if (path !== '' && !path.startsWith('/')) at.invalid(path, 'must be an absolute path');
  } else errors.at('pathType').notSupported(pathType, [EXACT, IMPLEMENTATION_SPECIFIC, PREFIX]);
  validateBackend(backend, errors.at('backend'), tolerance);
}

/** Where the traffic goes: a service, or some other object of the namespace. */
export function validateBackend({ resource, service }: IngressBackend, errors: FieldErrors, tolerance: IngressTolerance): void {
  if (resource && service) errors.invalid('', 'cannot set both resource and service backends');
  else if (resource) validateResourceBackend(resource, errors.at('resource'));
  else if (service) validateServiceBackend(service, errors, tolerance);
  else errors.invalid('', 'resource or service backend is required');
}

function validateServiceBackend({ name, port }: IngressServiceBackend, errors: FieldErrors, { relaxedServiceNames }: IngressTolerance): void {
  const at = errors.at('service', 'name');
  if (name === '') at.required();
  else for (const error of (relaxedServiceNames ? labelName : label1035Name)(name, false)) at.invalid(name, error);
  validateBackendPort(port, errors);
}

/** Faults of the port as a whole are reported at the backend. */
function validateBackendPort({ name = '', number = 0 }: ServiceBackendPort, errors: FieldErrors): void {
  const at = errors.at('service', 'port');
  if (name !== '' && number !== 0) errors.invalid('', 'cannot set both port name & port number');
  else if (name !== '') for (const error of portNameErrors(name)) at.at('name').invalid(name, error);
  else if (number !== 0) validatePortNumber(number, at.at('number'));
  else errors.required('port name or number is required');
}

interface ObjectReference {
  apiGroup?: string | null;
  kind: string;
  name: string;
}

/** Also of an ingress class' parameters. */
export function validateResourceBackend({ apiGroup, kind, name }: ObjectReference, errors: FieldErrors): void {
  if (typeof apiGroup === 'string') for (const error of dns1123SubdomainErrors(apiGroup)) errors.at('apiGroup').invalid(apiGroup, error);
  for (const [field, value] of [
    ['kind', kind],
    ['name', name],
  ] as const) {
    if (value === '') errors.at(field).required();
    else for (const error of pathSegmentErrors(value)) errors.at(field).invalid(value, error);
  }
}
