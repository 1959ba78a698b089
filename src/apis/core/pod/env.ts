import type { FieldErrors } from '../../../api/field-errors.ts';
import { configMapKeyErrors, dns1123LabelErrors, subdomainName } from '../../../api/names.ts';
import type { ConfigMapKeySelector, EnvFromSource, EnvVar, EnvVarSource, FileKeySelector } from '../../facts/types/core-v1.ts';
import { validateNoBacksteps } from '../../validation/local-path.ts';
import type { PodRules } from './rules.ts';
import { validateEnvFieldSelector, validateResourceSelector } from './downward-api.ts';

/** Printable ASCII but `=` (KEP-4369). */
const VARIABLE_NAME = /^[ -<>-~]*$/;
const VARIABLE_NAME_WRONG = "a valid environment variable name must consist only of printable ASCII characters other than '='";

export function validateEnv(variables: readonly EnvVar[], errors: FieldErrors, rules: PodRules): void {
  for (const [index, variable] of variables.entries()) {
    const at = errors.index(index);
    if (variable.name === '') at.at('name').required();
    else if (!VARIABLE_NAME.test(variable.name)) at.at('name').invalid(variable.name, VARIABLE_NAME_WRONG);
    if (variable.valueFrom) validateValueFrom(variable.valueFrom, variable.value ?? '', at.at('valueFrom'), rules);
  }
}

function validateValueFrom(source: EnvVarSource, value: string, errors: FieldErrors, { allowsEnvFiles }: PodRules): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateEnvFieldSelector(fieldRef, errors.at('fieldRef'));
  if (resourceFieldRef) validateResourceSelector(resourceFieldRef, errors.at('resourceFieldRef'), false);
  if (configMapKeyRef) validateKeySelector(configMapKeyRef, errors.at('configMapKeyRef'));
  if (secretKeyRef) validateKeySelector(secretKeyRef, errors.at('secretKeyRef'));
  if (fileKeyRef) validateFileKeySelector(fileKeyRef, errors.at('fileKeyRef'));
  const found = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((part) => part !== undefined).length;
  const choices = allowsEnvFiles ? '`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`' : '`configMapKeyRef` or `secretKeyRef`';
  if (found === 0) errors.invalid('', `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, ${choices}`);
  else if (value !== '') errors.invalid('', 'may not be specified when `value` is not empty');
  else if (found > 1) errors.invalid('', 'may not have more than one field specified at a time');
}

/** A key of a ConfigMap or of a Secret. */
function validateKeySelector({ name = '', key }: ConfigMapKeySelector, errors: FieldErrors): void {
  for (const error of subdomainName(name, false)) errors.at('name').invalid(name, error);
  if (key === '') errors.at('key').required();
  else for (const error of configMapKeyErrors(key)) errors.at('key').invalid(key, error);
}

/** A variable out of a file in a volume (KEP-3721). */
function validateFileKeySelector({ key, volumeName, path }: FileKeySelector, errors: FieldErrors): void {
  if (key === '') errors.at('key').required();
  else if (!VARIABLE_NAME.test(key)) errors.at('key').invalid(key, VARIABLE_NAME_WRONG);
  if (volumeName === '') errors.at('volumeName').required();
  else for (const error of dns1123LabelErrors(volumeName)) errors.at('volumeName').invalid(volumeName, error);
  if (path === '') errors.at('path').required();
  else validateNoBacksteps(path, errors.at('path'));
}

/** What is wrong with the sources as a whole is reported at the list. */
export function validateEnvFrom(sources: readonly EnvFromSource[], errors: FieldErrors): void {
  for (const [index, { prefix = '', configMapRef, secretRef }] of sources.entries()) {
    const at = errors.index(index);
    if (!VARIABLE_NAME.test(prefix)) at.at('prefix').invalid(prefix, VARIABLE_NAME_WRONG);
    if (configMapRef) validateObjectName(configMapRef.name ?? '', at.at('configMapRef', 'name'));
    if (secretRef) validateObjectName(secretRef.name ?? '', at.at('secretRef', 'name'));
    if (!configMapRef && !secretRef) errors.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef && secretRef) errors.invalid('', 'may not have more than one field specified at a time');
  }
}

/** Validated as a prefix would be, as upstream does. */
function validateObjectName(name: string, errors: FieldErrors): void {
  if (name === '') errors.required();
  else for (const error of subdomainName(name, true)) errors.invalid(name, error);
}
