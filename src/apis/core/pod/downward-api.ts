import type { FieldErrors } from '../../../api/field-errors.ts';
import { qualifiedNameErrors } from '../../../api/names.ts';
import type { DownwardAPIVolumeFile, DownwardAPIVolumeSource, ObjectFieldSelector, ResourceFieldSelector } from '../../facts/types/core-v1.ts';
import { validateUnreservedPath } from '../../validation/local-path.ts';
import { requireFields, validateFileMode } from './volume-sources.ts';

/** What a container may learn about its own pod, as a file or in its environment. */
const FILE_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];
const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** Every label that the v1 API ever had for such a field. */
const KNOWN_FIELDS = new Set([...FILE_FIELDS, ...ENV_FIELDS, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase']);
const RESOURCES = ['limits.cpu', 'limits.ephemeral-storage', 'limits.memory', 'requests.cpu', 'requests.ephemeral-storage', 'requests.memory'];
const HUGE_PAGES = /^(?:limits|requests)\.hugepages-/;

const CPU_DIVISORS = new Set(['1m', '1']);
const BYTE_DIVISORS = new Set(['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']);
const BYTES_WRONG = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the";
const BYTE_RESOURCES: Record<string, string> = { memory: 'memory', 'ephemeral-storage': 'local ephemeral storage' };

/** A file's errors are reported at the source, not at the file: upstream has no index here. */
export function validateDownwardApiVolume({ defaultMode, items = [] }: DownwardAPIVolumeSource, errors: FieldErrors): void {
  validateFileMode(defaultMode, errors.at('defaultMode'));
  for (const file of items) validateDownwardApiFile(file, errors);
}

export function validateDownwardApiFile(file: DownwardAPIVolumeFile, errors: FieldErrors): void {
  requireFields(file, ['path'], errors);
  validateUnreservedPath(file.path, errors.at('path'));
  if (file.fieldRef) {
    validateFieldSelector(file.fieldRef, FILE_FIELDS, errors.at('fieldRef'));
    if (file.resourceFieldRef) errors.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (file.resourceFieldRef) validateResourceSelector(file.resourceFieldRef, errors.at('resourceFieldRef'), true);
  else errors.required('one of fieldRef and resourceFieldRef is required');
  validateFileMode(file.mode, errors.at('mode'));
}

export const validateEnvFieldSelector = (selector: ObjectFieldSelector, errors: FieldErrors): void => validateFieldSelector(selector, ENV_FIELDS, errors);

function validateFieldSelector({ apiVersion = '', fieldPath }: ObjectFieldSelector, allowed: readonly string[], errors: FieldErrors): void {
  if (apiVersion === '') return errors.at('apiVersion').required();
  if (fieldPath === '') return errors.at('fieldPath').required();
  const wrong = (why: string): void => errors.at('fieldPath').invalid(fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion !== 'v1') return wrong(`unsupported pod version: ${apiVersion}`);
  const { path, subscript } = splitSubscript(fieldPath);
  if (subscript !== undefined) {
    if (path !== 'metadata.annotations' && path !== 'metadata.labels') return wrong(`field label does not support subscript: ${fieldPath}`);
    const key = path === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    for (const error of qualifiedNameErrors(key)) errors.invalid(key, error);
    return;
  }
  // Clients of the first v1 servers say spec.host.
  const name = path === 'spec.host' ? 'spec.nodeName' : path;
  if (!KNOWN_FIELDS.has(name)) wrong(`field label not supported: ${path}`);
  else if (!allowed.includes(name)) errors.at('fieldPath').notSupportedString(name, allowed);
}

/** `metadata.labels['a']` → metadata.labels and a. */
function splitSubscript(path: string): { path: string; subscript?: string } {
  const open = path.indexOf("['");
  if (open <= 0 || !path.endsWith("']") || open + 2 > path.length - 2) return { path };
  return { path: path.slice(0, open), subscript: path.slice(open + 2, -2) };
}

/** In a volume the container must be named; in a container's environment it is that container. */
export function validateResourceSelector({ containerName, resource, divisor }: ResourceFieldSelector, errors: FieldErrors, isVolume: boolean): void {
  if (isVolume && !containerName) errors.at('containerName').required();
  else if (resource === '') errors.at('resource').required();
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) errors.at('resource').notSupportedString(resource, RESOURCES);
  if (divisor !== '0' && divisor !== '') validateDivisor(resource, divisor, errors.at('divisor'));
}

function validateDivisor(resource: string, divisor: string, errors: FieldErrors): void {
  const kind = /^(?:limits|requests)\.(cpu|memory|ephemeral-storage)$/.exec(resource)?.[1];
  if (kind === 'cpu' && !CPU_DIVISORS.has(divisor)) errors.invalid(resource, "only divisor's values 1m and 1 are supported with the cpu resource");
  if (BYTE_DIVISORS.has(divisor)) return;
  if (kind !== undefined && kind !== 'cpu') errors.invalid(resource, `${BYTES_WRONG} ${BYTE_RESOURCES[kind]} resource`);
  if (HUGE_PAGES.test(resource)) errors.invalid(resource, `${BYTES_WRONG} hugepages resource`);
}
