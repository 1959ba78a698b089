import type { Service } from '../apis/facts/types/core-v1.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE } from './plugin.ts';
import { refusal } from './refusal.ts';

/** No service gets an external address that it has not had before (CVE-2020-8554; plugin/pkg/admission/network/denyserviceexternalips). */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  operations: CREATE_OR_UPDATE,
  targets: ['services'],
  validate(attributes: AdmissionAttributes): void {
    const { spec } = attributes.object as Service;
    const before = new Set((attributes.oldObject as Service | undefined)?.spec.externalIPs);
    if (spec.externalIPs?.some((address) => !before.has(address))) throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
};
