import { flag, flagSet } from './flag.ts';
import { duration, file, string, strings } from './types.ts';

export const authorization = flagSet('authorization', {
  'authorization-config': flag(file, 'File that configures the chain of authorizers, in place of --authorization-mode and --authorization-webhook-*.'),
  'authorization-mode': flag(strings, 'Authorizers in order, comma separated: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. Default: AlwaysAllow.'),
  'authorization-policy-file': flag(file, 'Policy of the ABAC authorizer, one JSON object a line.'),
  'authorization-webhook-cache-authorized-ttl': flag(duration, 'How long a yes of the webhook is remembered.', { default: 300_000 }),
  'authorization-webhook-cache-unauthorized-ttl': flag(duration, 'How long a no of the webhook is remembered.', { default: 30_000 }),
  'authorization-webhook-config-file': flag(file, 'Kubeconfig of the server that is asked.'),
  'authorization-webhook-version': flag(string, 'API version of the SubjectAccessReviews that it is sent.', { default: 'v1beta1' }),
});
