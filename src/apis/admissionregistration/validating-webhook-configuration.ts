import { defineResource } from '../define.ts';
import type { ValidatingWebhookConfiguration } from '../facts/types/admissionregistration-v1.ts';
import { defaultWebhook, webhookConfigurationRules } from './webhooks.ts';

/** Servers that are asked whether a request may pass. */
export const validatingWebhookConfigurations = defineResource<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  {
    ...webhookConfigurationRules,
    default({ webhooks = [] }) {
      for (const webhook of webhooks) defaultWebhook(webhook);
    },
    cells: { Webhooks: ({ webhooks = [] }) => webhooks.length },
  },
);
