import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type { VolumeAttributesClass } from '../facts/types/storage-v1.ts';
import { sameInVersion } from '../same-in-version.ts';
import { validateParameters, validateProvisioner } from './parameters.ts';

const DEPRECATION = 'storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass';

/** What of a volume can be changed while it is in use, as a name for a set of the driver's parameters. */
export const volumeAttributesClasses = defineResource<VolumeAttributesClass>('storage.k8s.io/v1/volumeattributesclasses', {
  validatesFinalizerNames: true,
  alsoServed: [sameInVersion('storage.k8s.io', 'v1', 'v1beta1', DEPRECATION)],

  validatesWhole: 'after',
  validate({ object: { driverName, parameters } }, errors) {
    validateProvisioner(driverName, errors.at('driverName'));
    validateParameters(parameters, errors.at('parameters'));
    if (Object.keys(parameters ?? {}).length === 0) errors.at('parameters').required('must contain at least one key/value pair');
  },
  validateUpdate({ object: { driverName, parameters }, old }, errors) {
    if (driverName !== old.driverName) errors.at('driverName').forbidden('updates to driverName are forbidden.');
    if (!equalJson(parameters, old.parameters)) errors.at('parameters').forbidden('updates to parameters are forbidden.');
  },

  cells: { DriverName: ({ driverName }) => driverName },
});
