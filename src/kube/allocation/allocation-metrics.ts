import type { MetricRegistry } from '../../metrics/registry.ts';

/** `static`: the client has chosen; `dynamic`: the server has. */
type Scope = 'static' | 'dynamic';

/** What a repair found: taken and not marked so, taken twice, marked and not taken, or outside of the range. */
export type RepairFinding = 'repair' | 'duplicate' | 'leak' | 'outOfRange';

/** How much of a range there is, and how much of it is taken. */
export interface RangeUse {
  cidr: string;
  size: number;
  taken: number;
}

/** What allocators of addresses and ports count, by upstream's names (pkg/registry/core/service/ipallocator/metrics.go, …/portallocator/metrics.go). */
export class AllocationMetrics {
  readonly #registry: MetricRegistry;
  readonly #ips;
  readonly #ports;

  constructor(registry: MetricRegistry) {
    this.#registry = registry;
    this.#ips = {
      total: registry.family('kube_apiserver_clusterip_allocator_allocation_total'),
      errors: registry.family('kube_apiserver_clusterip_allocator_allocation_errors_total'),
      seconds: registry.family('kube_apiserver_clusterip_allocator_allocation_duration_seconds'),
      taken: registry.family('kube_apiserver_clusterip_allocator_allocated_ips'),
      free: registry.family('kube_apiserver_clusterip_allocator_available_ips'),
    };
    this.#ports = {
      total: registry.family('kube_apiserver_nodeport_allocator_allocation_total'),
      errors: registry.family('kube_apiserver_nodeport_allocator_allocation_errors_total'),
      taken: registry.family('kube_apiserver_nodeport_allocator_allocated_ports').with(),
      free: registry.family('kube_apiserver_nodeport_allocator_available_ports').with(),
    };
  }

  ipAllocated(cidr: string, scope: Scope, isSuccess: boolean, durationMs: number): void {
    (isSuccess ? this.#ips.total : this.#ips.errors).with(cidr, scope).inc();
    this.#ips.seconds.with(cidr).observe(durationMs / 1000);
  }

  portAllocated(scope: Scope, isSuccess: boolean): void {
    (isSuccess ? this.#ports.total : this.#ports.errors).with(scope).inc();
  }

  /** Told after each change of the ports. */
  portsTaken(taken: number, size: number): void {
    this.#ports.taken.set(taken);
    this.#ports.free.set(size - taken);
  }

  /** Read when they are asked for. */
  showRanges(ranges: () => Iterable<RangeUse>): void {
    this.#registry.onCollect(() => {
      const { taken: takenIps, free } = this.#ips;
      takenIps.clear();
      free.clear();
      for (const { cidr, size, taken } of ranges()) {
        takenIps.with(cidr).set(taken);
        free.with(cidr).set(size - taken);
      }
    });
  }

  clusterIpRepaired(finding: RepairFinding): void {
    this.#registry.family('apiserver_clusterip_repair_ip_errors_total').with(finding).inc();
  }
  nodePortRepaired(finding: RepairFinding): void {
    this.#registry.family('apiserver_nodeport_repair_port_errors_total').with(finding).inc();
  }
  clusterIpRepairFailed(): void {
    this.#registry.family('apiserver_clusterip_repair_reconcile_errors_total').with().inc();
  }
  nodePortRepairFailed(): void {
    this.#registry.family('apiserver_nodeport_repair_reconcile_errors_total').with().inc();
  }
}
