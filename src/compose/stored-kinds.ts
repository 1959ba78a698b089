import { apiServices } from '../apis/apiregistration/api-service.ts';
import type { ServiceAllocators } from '../apis/core/service/allocation.ts';
import { definitionsWithRules } from '../extensions/rules/definition-rules.ts';
import { kubeKinds } from '../kube/kinds.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { KindSettings } from '../registry/write.ts';

/** All built-in kinds that a server with these features stores, for who only needs to know how: services get no addresses here. */
export const storedKinds = (settings: KindSettings): ResourceDefinition[] => [
  ...kubeKinds({ allocators: {} as ServiceAllocators, eventTtlSeconds: 0, now: () => new Date(), settings }),
  definitionsWithRules(),
  apiServices as ResourceDefinition,
];
