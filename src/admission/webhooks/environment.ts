import type { AdmissionOperation } from '../../registry/admission.ts';
import type { PluginEnvironment } from '../plugin.ts';
import type { ServiceAddress } from './caller.ts';
import { clusterAddresses, endpointAddresses } from './service-address.ts';

export const EVERY_OPERATION: ReadonlySet<AdmissionOperation> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const);

/** Where webhooks that are services are called. */
export const serviceAddresses = ({ client, options }: PluginEnvironment): ServiceAddress =>
  options.routesToEndpoints ? endpointAddresses(client) : clusterAddresses(client);
