import type { FieldErrors } from '../../../api/field-errors.ts';
import { configMapKeyErrors, dns1123SubdomainErrors, labelName } from '../../../api/names.ts';
import type { ConfigMapNodeConfigSource, NodeConfigSource, NodeConfigStatus } from '../../facts/types/core-v1.ts';
import { type InternalFields, internalForm } from '../../validation/internal-form.ts';

/** Configuration of kubelets from the API: a feature that is gone, with rules for the objects that still have it (KEP-281). */
const SOURCE: InternalFields = [
  [
    'ConfigMap',
    'configMap',
    [
      ['Namespace', 'namespace', ''],
      ['Name', 'name', ''],
      ['UID', 'uid', ''],
      ['ResourceVersion', 'resourceVersion', ''],
      ['KubeletConfigKey', 'kubeletConfigKey', ''],
    ],
  ],
];

/** In a spec, which names no particular version of the map. */
export function validateConfigSource(source: NodeConfigSource, errors: FieldErrors): void {
  validateSource(source, errors, (map, at) => {
    if (map.uid) at.at('uid').forbidden('uid must not be set in spec');
    if (map.resourceVersion) at.at('resourceVersion').forbidden('resourceVersion must not be set in spec');
  });
}

/** In a status, which does. */
export function validateConfigStatus(status: NodeConfigStatus, errors: FieldErrors): void {
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status[field];
    if (!source) continue;
    validateSource(source, errors.at(field), (map, at) => {
      if (!map.uid) at.at('uid').required();
      if (!map.resourceVersion) at.at('resourceVersion').required();
    });
  }
}

function validateSource(source: NodeConfigSource, errors: FieldErrors, validateVersion: (map: ConfigMapNodeConfigSource, errors: FieldErrors) => void): void {
  const { configMap } = source;
  if (!configMap) return errors.invalid(internalForm(source, SOURCE), 'exactly one reference subfield must be non-nil');
  const at = errors.at('configMap');
  validateVersion(configMap, at);
  const { namespace, name, kubeletConfigKey } = configMap;
  validateRequired(namespace, (value) => labelName(value, false), at.at('namespace'));
  validateRequired(name, dns1123SubdomainErrors, at.at('name'));
  validateRequired(kubeletConfigKey, configMapKeyErrors, at.at('kubeletConfigKey'));
}

function validateRequired(value: string, rule: (value: string) => string[], errors: FieldErrors): void {
  if (value === '') errors.required();
  else for (const error of rule(value)) errors.invalid(value, error);
}
