import { type AdmissionPlugin, EVERY_OPERATION } from './plugin.ts';
import { refusal } from './refusal.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';

/** Lets everything pass, as having no plug-in does (plugin/pkg/admission/admit). */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: EVERY_OPERATION };

/** Refuses everything (plugin/pkg/admission/deny). */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', operations: EVERY_OPERATION, mutate: refuse, validate: refuse };

function refuse(attributes: AdmissionAttributes): never {
  throw refusal(attributes, 'admission control is denying all modifications');
}
