import type { Client } from '../../client/client.ts';
import type { ApiObject } from '../../api/api-object.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { timeOf } from '../../util/time.ts';
import { type Condition, findCondition, setCondition } from './conditions.ts';
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
  const ensure = (): Promise<void> => ensureServiceCidr(client, options);
  // No service gets an address before it exists: the server is not ready until then, however long that takes.
  await untilDone(ensure, options, Infinity);
  await keepDoing(ensure, INTERVAL_MS, options);
}

async function ensureServiceCidr(client: Client, { cidrs, now }: ServiceCidrOptions): Promise<void> {
  const resource = await syncedResource<ServiceCidr>(client, 'networking.k8s.io', 'servicecidrs');
  await createIfMissing(resource, { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', metadata: { name: NAME }, spec: { cidrs: [...cidrs] } });
  const current = resource.informer.get('', NAME);
  if (current === undefined || current.metadata.deletionTimestamp !== undefined) return;
  if (cidrs.length === 2 && equalJson(current.spec.cidrs, [cidrs[0]])) {
    await resource.update('', NAME, (object) => void (object.spec.cidrs = [...cidrs]));
    return;
  }
  if (!equalJson(current.spec.cidrs, cidrs) || isSettled(current)) return;
  await resource.update('', NAME, (object) => void ((object.status ??= {}).conditions = setCondition(object.status.conditions, readyAt(now()))), 'status');
}

/** Ready, or made unready by someone who will know why. */
function isSettled({ status }: ServiceCidr): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready !== undefined && ready.status !== 'Unknown';
}

const readyAt = (now: Date): Condition => ({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: timeOf(now),
  reason: '',
  message: 'Kubernetes default Service CIDR is ready',
});
