import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { timeOf } from '../../util/time.ts';
import { type Condition, findCondition, setCondition } from './conditions.ts';
import { ServiceCidrEvents } from './service-cidr-events.ts';
import { type BootstrapControllerOptions, createIfMissing, keepDoing, syncedResource, untilDone } from './keeping.ts';

const NAME = 'kubernetes';
const INTERVAL_MS = 10_000;

export interface ServiceCidrOptions extends BootstrapControllerOptions {
  /** `--service-cluster-ip-range`: the primary range, and the secondary one where there are two. */
  cidrs: readonly string[];
}

interface ServiceCidr extends ApiObject {
  spec: { cidrs: string[] };
  status?: { conditions?: Condition[] };
}

/** The ServiceCIDR that the flags describe, marked ready. One that differs is left as it is, but for a second family added (pkg/controlplane/controller/defaultservicecidr). */
export async function keepDefaultServiceCidr(client: Client, options: ServiceCidrOptions): Promise<void> {
  const events = new ServiceCidrEvents(client, options);
  const ensure = (): Promise<void> => ensureServiceCidr(client, options, events);
  // No service gets an address before it exists: the server is not ready until then, however long that takes.
  await untilDone(ensure, options, Infinity);
  await keepDoing(ensure, INTERVAL_MS, options);
}

async function ensureServiceCidr(client: Client, { cidrs, now }: ServiceCidrOptions, events: ServiceCidrEvents): Promise<void> {
  const resource = await syncedResource<ServiceCidr>(client, 'networking.k8s.io', 'servicecidrs');
  await createIfMissing(resource, { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', metadata: { name: NAME }, spec: { cidrs: [...cidrs] } });
  const current = resource.informer.get('', NAME);
  if (current === undefined || current.metadata.deletionTimestamp !== undefined) return;
  if (cidrs.length === 2 && equalJson(current.spec.cidrs, [cidrs[0]])) {
    const upgrade = resource.update('', NAME, (object) => void (object.spec.cidrs = [...cidrs]));
    return upgrade.then(undefined, (error: Error) =>
      events.warn(current, ERROR, `The default ServiceCIDR can not be upgraded from ${cidrs[0]} to dual stack ${goList(cidrs)} : ${error.message}`),
    );
  }
  if (!equalJson(current.spec.cidrs, cidrs)) {
    const message = `The default ServiceCIDR ${goList(current.spec.cidrs)} does not match the controller flag configurations ${goList(cidrs)}`;
    return events.warn(current, 'KubernetesDefaultServiceCIDRInconsistent', message);
  }
  const ready = findCondition(current.status?.conditions, 'Ready');
  // Whoever made it unready will know why.
  if (ready?.status === 'False') return events.warn(current, ready.reason, `Configuration matches, but ${ready.message}`);
  if (ready?.status === 'True') return;
  const setReady = (object: ServiceCidr): void => void ((object.status ??= {}).conditions = setCondition(object.status.conditions, readyAt(now())));
  await resource
    .update('', NAME, setReady, 'status')
    .then(undefined, () => events.warn(current, ERROR, 'The default ServiceCIDR Status can not be set to Ready=True'));
}

const ERROR = 'KubernetesDefaultServiceCIDRError';
/** As Go prints a list of strings. */
const goList = (items: readonly string[]): string => `[${items.join(' ')}]`;

const readyAt = (now: Date): Condition => ({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: timeOf(now),
  reason: '',
  message: 'Kubernetes default Service CIDR is ready',
});
