import type { Service } from '../../facts/types/core-v1.ts';

export const CLUSTER_IP = 'ClusterIP';
export const NODE_PORT = 'NodePort';
export const LOAD_BALANCER = 'LoadBalancer';
export const EXTERNAL_NAME = 'ExternalName';
/** A cluster IP of this value: a service without one, told so. */
export const NO_IP = 'None';

/** `clusterIP: None`, and nothing beside it. */
export const isHeadless = ({ spec: { clusterIPs } }: Service): boolean => clusterIPs?.length === 1 && clusterIPs[0] === NO_IP;

/** Only a name in DNS does without an address, and even `None` is one. */
export const needsClusterIp = ({ spec }: Service): boolean => spec.type !== EXTERNAL_NAME;

export const mayUseNodePorts = ({ spec: { type } }: Service): boolean => type === NODE_PORT || type === LOAD_BALANCER;

/** A load balancer need not be given node ports. */
export const needsNodePorts = ({ spec }: Service): boolean =>
  spec.type === NODE_PORT || (spec.type === LOAD_BALANCER && spec.allocateLoadBalancerNodePorts !== false);

/** Where the load balancer asks each node whether it has endpoints of its own. */
export const needsHealthCheckPort = ({ spec }: Service): boolean => spec.type === LOAD_BALANCER && spec.externalTrafficPolicy === 'Local';

export const isExternallyAccessible = (service: Service): boolean =>
  mayUseNodePorts(service) || (service.spec.type === CLUSTER_IP && (service.spec.externalIPs ?? []).length > 0);
