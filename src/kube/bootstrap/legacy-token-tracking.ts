import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { type BootstrapControllerOptions, createIfMissing, ensureNamespaces, keepDoing, syncedResource } from './keeping.ts';

const NAMESPACE = 'kube-system';
const NAME = 'kube-apiserver-legacy-service-account-token-tracking';
const INTERVAL_MS = 60_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

/** The ConfigMap that says since when the use of legacy service account tokens is tracked (KEP-2799). */
export function keepLegacyTokenTracking(client: Client, options: BootstrapControllerOptions): Promise<void> {
  const ensure = async (): Promise<void> => {
    const resource = await syncedResource<ConfigMap>(client, '', 'configmaps');
    const since = options.now().toISOString().slice(0, 10);
    await ensureNamespaces(client, [NAMESPACE]);
    await createIfMissing(resource, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: NAME, namespace: NAMESPACE }, data: { since } });
    const current = resource.informer.get(NAMESPACE, NAME);
    if (current === undefined || isDate(current.data?.since)) return;
    await resource.update(NAMESPACE, NAME, (object) => void (object.data = { ...object.data, since }));
  };
  return keepDoing(ensure, INTERVAL_MS, options);
}

const isDate = (text: string | undefined): boolean => text !== undefined && DATE.test(text) && !Number.isNaN(Date.parse(text));
