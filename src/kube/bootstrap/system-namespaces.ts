import type { Client } from '../../client/client.ts';
import { type ControllerOptions, ensureNamespaces, keepDoing } from './keeping.ts';

const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'];
const INTERVAL_MS = 60_000;

/** The namespaces that are always there. */
export function keepSystemNamespaces(client: Client, options: ControllerOptions): Promise<void> {
  return keepDoing(() => ensureNamespaces(client, SYSTEM_NAMESPACES), INTERVAL_MS, options);
}
