import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AdmissionPlugin, EVERY_OPERATION } from './plugin.ts';
import { refusal } from './refusal.ts';

/** Refuses everything (plugin/pkg/admission/deny). */
export const alwaysDeny: AdmissionPlugin = { name: 'AlwaysDeny', operations: EVERY_OPERATION, mutate: refuse, validate: refuse };

function refuse(attributes: AdmissionAttributes): never {
  throw refusal(attributes, 'admission control is denying all modifications');
}
