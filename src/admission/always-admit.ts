import { type AdmissionPlugin, EVERY_OPERATION } from './plugin.ts';

/** Lets everything pass, as having no plug-in does (plugin/pkg/admission/admit). */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit', operations: EVERY_OPERATION };
