import { AllocationError, type PortAllocator, type PortOperation } from '../../../registry/allocators.ts';
import type { Transaction } from '../../../registry/definition.ts';
import { internalError, invalid } from '../../../api/errors.ts';
import { FieldErrors } from '../../../api/field-errors.ts';
import type { Service, ServicePort } from '../../facts/types/core-v1.ts';
import { mayUseNodePorts, needsHealthCheckPort, needsNodePorts } from './traits.ts';

/** A PUT that leaves out the node ports that were allocated means to keep them, port by port as they are named. */
export function keepNodePorts(service: Service, old: Service): void {
  if (needsNodePorts(service) && needsNodePorts(old)) {
    const [ports, before] = [service.spec.ports ?? [], old.spec.ports ?? []];
    const reused = new Set(ports.map(({ nodePort }) => nodePort).filter((port) => port && before.some(({ nodePort }) => nodePort === port)));
    for (const port of ports) {
      const kept = before.find(({ name }) => (name ?? '') === (port.name ?? ''))?.nodePort;
      if (!port.nodePort && kept && !reused.has(kept)) port.nodePort = kept;
    }
  }
  if (needsHealthCheckPort(service) && needsHealthCheckPort(old) && !service.spec.healthCheckNodePort && old.spec.healthCheckNodePort) {
    service.spec.healthCheckNodePort = old.spec.healthCheckNodePort;
  }
}

export function allocateNodePorts(ports: PortAllocator, service: Service, dryRun: boolean): Promise<Transaction> {
  return within(ports, dryRun, async (operation) => {
    if (mayUseNodePorts(service)) await allocateNew(service, operation);
    if (needsHealthCheckPort(service)) await allocateHealthCheckPort(service, operation);
  });
}

export function updateNodePorts(ports: PortAllocator, service: Service, old: Service, dryRun: boolean): Promise<Transaction> {
  return within(ports, dryRun, async (operation) => {
    if (mayUseNodePorts(service)) await allocateChanged(service, old, operation);
    else if (mayUseNodePorts(old)) nodePortsOf(old).forEach((port) => operation.releaseLater(port));
    if (needsHealthCheckPort(service) && !needsHealthCheckPort(old)) await allocateHealthCheckPort(service, operation);
    if (!needsHealthCheckPort(service) && needsHealthCheckPort(old) && old.spec.healthCheckNodePort) operation.releaseLater(old.spec.healthCheckNodePort);
  });
}

export const releaseNodePorts = (ports: PortAllocator, service: Service): Promise<void> => ports.release(portsHeldBy(service));

/** All that a stored service has of the range. */
export function portsHeldBy(service: Service): number[] {
  const healthCheck = needsHealthCheckPort(service) ? service.spec.healthCheckNodePort : undefined;
  return [...nodePortsOf(service), ...(healthCheck ? [healthCheck] : [])];
}

const nodePortsOf = ({ spec }: Service): number[] => (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

async function within(ports: PortAllocator, dryRun: boolean, work: (operation: PortOperation) => Promise<void>): Promise<Transaction> {
  const operation = ports.begin(dryRun);
  try {
    await work(operation);
  } catch (error) {
    await operation.revert();
    throw error;
  }
  return operation;
}

/** Ports of one number, such as 53 over TCP and UDP, share a node port unless the client chose otherwise. */
async function allocateNew(service: Service, operation: PortOperation): Promise<void> {
  const byPort = new Map<number, number>();
  for (const [index, port] of (service.spec.ports ?? []).entries()) {
    if (!port.nodePort && !needsNodePorts(service)) continue;
    const shared = byPort.get(port.port);
    if (shared !== undefined && (!port.nodePort || port.nodePort === shared)) {
      port.nodePort = shared;
      continue;
    }
    const chosen = port.nodePort || (shared === undefined ? chosenFor(port.port, service.spec.ports!) : undefined);
    port.nodePort = await (chosen ? take(service, index, chosen, operation) : takeAny(operation));
    if (shared === undefined) byPort.set(port.port, port.nodePort);
  }
}

const chosenFor = (number: number, ports: readonly ServicePort[]): number | undefined =>
  ports.find(({ port, nodePort }) => port === number && nodePort)?.nodePort;

async function allocateChanged(service: Service, old: Service, operation: PortOperation): Promise<void> {
  const before = new Set(nodePortsOf(old));
  const seen = new Set<number>();
  for (const [index, port] of (service.spec.ports ?? []).entries()) {
    if (!port.nodePort && !needsNodePorts(service)) continue;
    if (!port.nodePort) port.nodePort = await takeAny(operation);
    else if (!before.has(port.nodePort) && !seen.has(port.nodePort)) await take(service, index, port.nodePort, operation);
    seen.add(port.nodePort);
  }
  for (const port of before) if (!seen.has(port)) operation.releaseLater(port);
}

async function allocateHealthCheckPort({ spec }: Service, operation: PortOperation): Promise<void> {
  try {
    if (spec.healthCheckNodePort) await operation.allocate(spec.healthCheckNodePort);
    else spec.healthCheckNodePort = await operation.allocateAny();
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    throw internalError(
      spec.healthCheckNodePort
        ? `failed to allocate requested HealthCheck NodePort ${spec.healthCheckNodePort}: ${error.message}`
        : `failed to allocate a HealthCheck NodePort 0: ${error.message}`,
    );
  }
}

async function take({ metadata }: Service, index: number, port: number, operation: PortOperation): Promise<number> {
  try {
    await operation.allocate(port);
    return port;
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    const errors = new FieldErrors();
    errors.at('spec', 'ports').index(index).at('nodePort').invalid(port, error.message);
    throw invalid({ group: '', kind: 'Service' }, metadata.name ?? '', errors.list);
  }
}

async function takeAny(operation: PortOperation): Promise<number> {
  try {
    return await operation.allocateAny();
  } catch (error) {
    throw error instanceof AllocationError ? internalError(`failed to allocate a nodePort: ${error.message}`) : error;
  }
}
