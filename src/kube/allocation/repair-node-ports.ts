import type { RangeAllocation, Service } from '../../apis/facts/types/core-v1.ts';
import type { Client } from '../../client/client.ts';
import type { StoredObjects } from '../../registry/stored-objects.ts';
import type { AllocationMetrics, RepairFinding } from './allocation-metrics.ts';
import { NODE_PORTS } from './node-ports.ts';
import type { RepairEvents } from './repair-events.ts';
import { type PortRange, PortSet, parsePortRange, portRangeText } from './port-range.ts';

/** A port that nobody seems to have may be on its way to a service: it is let go when it was found so for the third time. */
const PASSES_BEFORE_RELEASE = 3;
const MAX_ATTEMPTS = 5;

export interface NodePortRepairOptions {
  client: Client;
  ranges: StoredObjects<RangeAllocation>;
  range: PortRange;
  /** Called with what was found wrong. */
  report(error: Error): void;
  /** Where the same is told to whoever looks at the service. */
  events: RepairEvents;
  metrics?: Pick<AllocationMetrics, 'nodePortRepaired'>;
}

/** Makes the bitmap of node ports say what services have (registry/core/service/portallocator/controller/repair.go). */
export class NodePortRepair {
  readonly #options: NodePortRepairOptions;
  /** How often each port was found without a service. */
  readonly #leaks = new Map<number, number>();

  constructor(options: NodePortRepairOptions) {
    this.#options = options;
  }

  /** `isIdle`: nobody can be about to store a service, so that what has none is free at once. */
  async run({ isIdle = false } = {}): Promise<void> {
    await this.#options.client.resource('', 'services').informer.synced;
    for (let attempt = 1; !(await this.#runOnce(isIdle)); attempt++) {
      if (attempt === MAX_ATTEMPTS) throw new Error('unable to persist the updated port allocations: others changed them meanwhile');
    }
  }

  /** False where others changed the bitmap after it was read: the services may be older than that change. */
  async #runOnce(isIdle: boolean): Promise<boolean> {
    const { client, ranges, range } = this.#options;
    const before = await ranges.get(NODE_PORTS);
    const services = await client.resource<Service>('', 'services').list('');
    const stored = before && new PortSet(parsePortRange(before.object.range) ?? range, before.object.data ?? '');
    const rebuilt = new PortSet(range);
    for (const service of services) for (const port of portsOf(service)) this.#count(service, port, rebuilt, stored);
    if (stored && !isIdle) this.#keepLeaks(stored, rebuilt);
    const next = rebuilt.stored(before?.object);
    if (next.data === before?.object.data && next.range === before.object.range) return true;
    const written = await ranges.update(
      NODE_PORTS,
      (current) => (current?.metadata.resourceVersion === before?.object.metadata.resourceVersion ? next : undefined),
      {
        known: before,
      },
    );
    return written?.object === next;
  }

  #count(service: Service, port: number, rebuilt: PortSet, stored: PortSet | undefined): void {
    const warn = (finding: RepairFinding, reason: string, what: string): void => this.#warn(service, port, finding, reason, what);
    if (!rebuilt.contains(port))
      return warn('outOfRange', 'PortOutOfRange', `is not within the port range ${portRangeText(rebuilt.range)}; please recreate service`);
    if (rebuilt.has(port)) return warn('duplicate', 'PortAlreadyAllocated', 'was assigned to multiple services; please recreate service');
    rebuilt.take(port);
    this.#leaks.delete(port);
    const isUnknown = stored && !stored.has(port);
    stored?.release(port);
    if (isUnknown) warn('repair', 'PortNotAllocated', 'is not allocated; repairing');
  }

  #warn(service: Service, port: number, finding: RepairFinding, reason: string, what: string): void {
    this.#options.metrics?.nodePortRepaired(finding);
    const { namespace, name } = service.metadata;
    this.#options.report(new Error(`the node port ${port} for service ${namespace}/${name} ${what}`));
    this.#options.events.warn({ apiVersion: 'v1', kind: 'Service' }, service, { reason, action: 'PortAllocation', note: `Port ${port} ${what}` });
  }

  /** What is left of the stored ones has no service. */
  #keepLeaks(stored: PortSet, rebuilt: PortSet): void {
    for (const port of stored.taken()) {
      const passes = (this.#leaks.get(port) ?? 0) + 1;
      this.#leaks.set(port, passes);
      if (passes < PASSES_BEFORE_RELEASE) {
        if (rebuilt.contains(port) && !rebuilt.has(port)) rebuilt.take(port);
        continue;
      }
      this.#leaks.delete(port);
      this.#options.metrics?.nodePortRepaired('leak');
      this.#options.report(new Error(`the node port ${port} appears to have leaked: cleaning up`));
    }
  }
}

/** One that is named twice with different protocols counts once; with the same protocol it is a mistake that is to be told. */
function portsOf({ spec }: Service): number[] {
  const seen = new Map<number, Set<string>>();
  const ports: number[] = [];
  const add = (port: number | undefined, protocol: string): void => {
    if (!port) return;
    const protocols = seen.get(port) ?? new Set();
    if (protocols.size === 0 || protocols.has(protocol)) ports.push(port);
    seen.set(port, protocols.add(protocol));
  };
  for (const { nodePort, protocol = 'TCP' } of spec.ports ?? []) add(nodePort, protocol);
  add(spec.healthCheckNodePort, 'TCP');
  return ports;
}
