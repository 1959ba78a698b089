import type { ServiceAccount } from '../apis/facts/types/core-v1.ts';
import type { Controller } from './controller.ts';
import { keepInEveryNamespace } from './in-every-namespace.ts';

const NAME = 'default';

/** The account that pods run as when they name none (pkg/controller/serviceaccount). */
export const keepServiceAccounts: Controller = (client, options) =>
  keepInEveryNamespace<ServiceAccount>(
    client,
    { plural: 'serviceaccounts', name: NAME, make: () => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: NAME } }) },
    options,
  );
