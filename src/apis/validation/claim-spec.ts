import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors, labelName, subdomainName } from '../../api/names.ts';
import { parseQuantity, quantitySign } from '../../api/quantity.ts';
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from '../facts/types/core-v1.ts';
import { validateOptionalChoice } from './choice.ts';
import { validateLabelSelector } from './label-selector.ts';

export interface ClaimSpecOptions {
  /** For updates of claims that have such things already. */
  allowInvalidSelector?: boolean;
  allowInvalidApiGroup?: boolean;
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** What a claim asks for, in an object of its own or in a template (pkg/apis/core/validation ValidatePersistentVolumeClaimSpec). */
export function validateVolumeClaimSpec(spec: PersistentVolumeClaimSpec, errors: FieldErrors, options: ClaimSpecOptions = {}): void {
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.at('accessModes').required('at least 1 access mode is required');
  validateLabelSelector(spec.selector, errors.at('selector'), { allowInvalidValues: options.allowInvalidSelector ?? false });
  validateAccessModes(modes, errors.at('accessModes'));
  validateStorage(spec.resources.requests?.['storage'], errors.at('resources').key('storage'));
  validateClassName(spec.storageClassName, errors.at('storageClassName'));
  validateOptionalChoice(spec.volumeMode, VOLUME_MODES, errors.at('volumeMode'));
  validateDataSources(spec, errors, options);
  validateClassName(spec.volumeAttributesClassName, errors.at('volumeAttributesClassName'));
}

function validateAccessModes(modes: readonly string[], errors: FieldErrors): void {
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) errors.notSupported(mode, ACCESS_MODES);
  const isShared = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (isShared && modes.includes('ReadWriteOncePod')) errors.forbidden('may not use ReadWriteOncePod with other access modes');
}

function validateStorage(quantity: string | undefined, errors: FieldErrors): void {
  if (quantity === undefined) errors.required();
  else if (quantitySign(parseQuantity(quantity)) <= 0) errors.invalid(quantity, 'must be greater than zero');
}

function validateClassName(name: string | undefined, errors: FieldErrors): void {
  if (name) for (const error of subdomainName(name, false)) errors.invalid(name, error);
}

function validateDataSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, errors: FieldErrors, options: ClaimSpecOptions): void {
  if (dataSource) validateDataSource(dataSource, errors.at('dataSource'), options);
  if (dataSourceRef) validateDataSource(dataSourceRef, errors.at('dataSourceRef'), options);
  if (dataSourceRef?.namespace)
    for (const error of labelName(dataSourceRef.namespace, false)) errors.at('dataSourceRef', 'namespace').invalid(dataSourceRef.namespace, error);
  if (!dataSource || !dataSourceRef) return;
  // Upstream shows the path's struct for the value, which has nothing to show.
  if (dataSourceRef.namespace) errors.invalid({}, 'may not be specified when dataSourceRef.namespace is specified');
  else if (dataSource.kind !== dataSourceRef.kind || dataSource.name !== dataSourceRef.name || dataSource.apiGroup !== dataSourceRef.apiGroup)
    errors.invalid({}, 'must match dataSourceRef');
}

function validateDataSource(
  { apiGroup, kind, name }: TypedLocalObjectReference | TypedObjectReference,
  errors: FieldErrors,
  { allowInvalidApiGroup }: ClaimSpecOptions,
): void {
  if (name === '') errors.at('name').required();
  if (kind === '') errors.at('kind').required();
  if (!apiGroup && kind !== 'PersistentVolumeClaim') errors.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  if (apiGroup && !allowInvalidApiGroup) for (const error of dns1123SubdomainErrors(apiGroup)) errors.at('apiGroup').invalid(apiGroup, error);
}
