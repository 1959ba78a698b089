import type { Client } from '../client/client.ts';
import type { CustomResourceDefinition } from '../apis/facts/types/apiextensions-v1.ts';
import type { PostStartHook } from '../server/hooks.ts';
import { keepApproval } from './approval.ts';
import { keepEstablished } from './establishing.ts';
import { type FinalizingOptions, keepFinalized } from './finalizing.ts';
import { keepNamesAccepted } from './naming.ts';
import { keepNonStructuralSchemas } from './nonstructural.ts';

const CONTROLLERS = [keepNamesAccepted, keepEstablished, keepNonStructuralSchemas, keepApproval, keepFinalized];

/** All that writes conditions to a definition's status, under upstream's name for it. */
export const definitionControllers = (client: Client, options: Omit<FinalizingOptions, 'signal'>): PostStartHook => ({
  name: 'start-apiextensions-controllers',
  async run(signal) {
    const definitions = client.resource<CustomResourceDefinition>('apiextensions.k8s.io', 'customresourcedefinitions');
    await Promise.all(CONTROLLERS.map((keep) => keep(definitions, { ...options, signal })));
  },
});
