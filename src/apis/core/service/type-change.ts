import type { Service } from '../../facts/types/core-v1.ts';
import { sameClusterIps, sameFamilies } from './ip-families.ts';
import { LOAD_BALANCER, isExternallyAccessible, mayUseNodePorts, needsClusterIp, needsHealthCheckPort } from './traits.ts';

/**
 * A service that changes its type is rid of what the new type has no use for, where the server may have filled it in and the client did not touch it.
 * What the client did change is left for validation to refuse (pkg/registry/core/service dropTypeDependentFields).
 */
export function dropUnusedFields(service: Service, old: Service): void {
  const { spec } = service;
  const stops = (needs: (service: Service) => boolean): boolean => needs(old) && !needs(service);
  const isSame = (field: 'ipFamilyPolicy' | 'healthCheckNodePort' | 'allocateLoadBalancerNodePorts' | 'loadBalancerClass' | 'externalTrafficPolicy'): boolean =>
    spec[field] === old.spec[field];
  if (stops(needsClusterIp)) dropAddresses(service, old);
  if (stops(mayUseNodePorts) && hasNoNewNodePorts(service, old)) for (const port of spec.ports ?? []) delete port.nodePort;
  if (stops(needsHealthCheckPort) && isSame('healthCheckNodePort')) delete spec.healthCheckNodePort;
  if (stops(isLoadBalancer) && isSame('allocateLoadBalancerNodePorts')) delete spec.allocateLoadBalancerNodePorts;
  if (stops(isLoadBalancer) && isSame('loadBalancerClass')) delete spec.loadBalancerClass;
  if (stops(isExternallyAccessible) && isSame('externalTrafficPolicy')) delete spec.externalTrafficPolicy;
  if (!isLoadBalancer(service)) service.status = { ...service.status, loadBalancer: {} };
}

const isLoadBalancer = ({ spec }: Service): boolean => spec.type === LOAD_BALANCER;

function dropAddresses(service: Service, old: Service): void {
  const { spec } = service;
  if (sameClusterIps(service, old)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (sameFamilies(service, old)) delete spec.ipFamilies;
  if (spec.ipFamilyPolicy === old.spec.ipFamilyPolicy) delete spec.ipFamilyPolicy;
}

/** Ports may be added and removed, as long as none asks for a node port that the service did not have. */
function hasNoNewNodePorts(service: Service, old: Service): boolean {
  const before = new Set((old.spec.ports ?? []).map(({ nodePort }) => nodePort));
  return (service.spec.ports ?? []).every(({ nodePort }) => !nodePort || before.has(nodePort));
}
