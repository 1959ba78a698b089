import { defineResource } from '../define.ts';
import type { MutatingWebhookConfiguration } from '../facts/types/admissionregistration-v1.ts';
import { defaultMutatingWebhook, webhookConfigurationRules } from './webhooks.ts';

/** Servers that may change what a request writes. */
export const mutatingWebhookConfigurations = defineResource<MutatingWebhookConfiguration>('admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
  ...webhookConfigurationRules,
  default({ webhooks = [] }) {
    for (const webhook of webhooks) defaultMutatingWebhook(webhook);
  },
  cells: { Webhooks: ({ webhooks = [] }) => webhooks.length },
});
