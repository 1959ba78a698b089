import type { KindSettings } from '../../registry/write.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { subdomainName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { DeviceClass } from '../facts/types/resource-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { isExtendedResource } from '../validation/resource-names.ts';
import { MAX_CONFIGS, validateConfiguration } from './configuration.ts';
import { validateList } from './lists.ts';
import { validateDeviceSelectors } from './selectors.ts';
import { betaVersions } from './versions.ts';

const GATED: GatedFields = [['DRAExtendedResource', ['spec.extendedResourceName']]];

/** Devices that claims ask for by one name, and the configuration that comes with it. */
export const deviceClasses = defineResource<DeviceClass>('resource.k8s.io/v1/deviceclasses', {
  validatesFinalizerNames: true,
  validatesInSlices: true,
  alsoServed: betaVersions<DeviceClass>('DeviceClass'),
  generation: 'spec',
  // Upstream's newer package for such names speaks of bytes.
  naming: { errors: (name, isPrefix) => subdomainName(name, isPrefix).map((error) => error.replace(/ characters$/, ' bytes')) },

  prepareForCreate: ({ object: deviceClass, settings }) => dropGatedFields(GATED, deviceClass, undefined, settings),
  prepareForUpdate: ({ object: deviceClass, old, settings }) => dropGatedFields(GATED, deviceClass, old, settings),

  validate({ object: { spec }, old, settings }, errors) {
    // On a change, metadata is validated against what it was before the rest is: `validateUpdate` goes on.
    if (!old) validateSpec(spec, settings, errors.at('spec'));
  },
  validatesWhole: 'before',
  validateUpdate: ({ object: { spec }, old, settings }, errors) => validateSpec(spec, settings, errors.at('spec'), old.spec),
});

function validateSpec(
  { selectors, config, extendedResourceName }: DeviceClass['spec'],
  { hasFormerCel }: KindSettings,
  errors: FieldErrors,
  old?: DeviceClass['spec'],
): void {
  const areSelectorsStored = old !== undefined && equalJson(selectors, old.selectors);
  validateDeviceSelectors(selectors, { hasFormerCel: hasFormerCel === true && !areSelectorsStored }, errors.at('selectors'));
  const isConfigStored = old !== undefined && equalJson(config, old.config);
  validateList(config, MAX_CONFIGS, (item, at) => validateConfiguration(item, isConfigStored, at), errors.at('config'));
  if (extendedResourceName !== undefined && !isExtendedResource(extendedResourceName))
    errors.at('extendedResourceName').invalid(extendedResourceName, 'must be a valid extended resource name');
}
