import type { Change, KindSettings, Write } from '../../../registry/write.ts';
import type { FieldErrors } from '../../../api/field-errors.ts';
import { parseIp } from '../../../net/ip-address.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors } from '../../../api/names.ts';
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from '../../facts/types/core-v1.ts';
import { isFeatureOn } from '../../features.ts';
import { validateChoice, validateOptionalChoice } from '../../validation/choice.ts';
import { validateLegacyCidr } from '../../validation/cidr.ts';
import { validateEndpointIp } from '../../validation/endpoint-ip.ts';
import { validateLegacyIp } from '../../validation/ip-address.ts';
import { validateLabelMap } from '../../validation/label-selector.ts';
import { validatePortNumber, validatePortNumberOrName } from '../../validation/ports.ts';
import { validateIpFamilies } from './ip-families.ts';
import { CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT, isExternallyAccessible, isHeadless, needsHealthCheckPort } from './traits.ts';

const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
export const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
export const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const TYPES = [CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT];
const AFFINITIES = ['ClientIP', 'None'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
export const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const FORMER_DISTRIBUTIONS = ['PreferClose'];
const IP_MODES = ['Proxy', 'VIP'];
const MAX_AFFINITY_SECONDS = 86_400;
const NOT_FOR_NAMES = 'may not be set for ExternalName services';
const ONLY_FOR_BALANCERS = "may only be used when `type` is 'LoadBalancer'";

/** All but metadata, in upstream's order (pkg/apis/core/validation validateService). `errors` stands at the object. */
export function validateService({ object: service, old, settings }: Write<Service>, errors: FieldErrors): void {
  const { metadata, spec } = service;
  const at = errors.at('spec');
  validateTopologyMode(metadata.annotations ?? {}, errors);
  if ((spec.ports ?? []).length === 0 && !isHeadless(service) && spec.type !== EXTERNAL_NAME) at.at('ports').required();
  validateForType(service, at);
  validatePorts(spec.ports ?? [], at.at('ports'));
  if (spec.selector) validateLabelMap(spec.selector, at.at('selector'));
  validateAffinity(spec, at);
  validateIpFamilies(service, at, settings, old);
  validateExternalIps(spec.externalIPs ?? [], at.at('externalIPs'), settings, new Set(old?.spec.externalIPs));
  validateChoice(spec.type, TYPES, at.at('type'));
  validateUniquePorts(spec, at.at('ports'));
  validateSourceRanges(service, errors, settings, old);
  validateLoadBalancer(spec, at);
  validateTrafficPolicies(service, settings, at);
}

function validateTopologyMode(annotations: Record<string, string>, errors: FieldErrors): void {
  const hints = annotations[TOPOLOGY_HINTS];
  const mode = annotations[TOPOLOGY_MODE];
  if (mode === undefined || hints === undefined || mode === hints) return;
  errors.at('metadata', 'annotations').key(TOPOLOGY_MODE).invalid(mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`);
}

function validateForType(service: Service, errors: FieldErrors): void {
  const { spec } = service;
  if ((spec.type === LOAD_BALANCER || spec.type === NODE_PORT) && isHeadless(service)) {
    errors.at('clusterIPs').index(0).invalid(spec.clusterIPs![0], `may not be set to 'None' for ${spec.type} services`);
  }
  if (spec.type !== EXTERNAL_NAME) return;
  if ((spec.clusterIPs ?? []).length > 0) errors.at('clusterIPs').forbidden(NOT_FOR_NAMES);
  if ((spec.ipFamilies ?? []).length > 0) errors.at('ipFamilies').forbidden(NOT_FOR_NAMES);
  if (spec.ipFamilyPolicy !== undefined) errors.at('ipFamilyPolicy').forbidden(NOT_FOR_NAMES);
  // A dot at the end says that the name is fully qualified.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.at('externalName').required();
  for (const error of name === '' ? [] : dns1123SubdomainErrors(name)) errors.at('externalName').invalid(name, error);
}

function validatePorts(ports: readonly ServicePort[], errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = errors.index(index);
    const name = port.name ?? '';
    if (name === '' && ports.length > 1) at.at('name').required();
    if (name !== '') {
      for (const error of dns1123LabelErrors(name)) at.at('name').invalid(name, error);
      if (names.has(name)) at.at('name').duplicate(name);
      names.add(name);
    }
    validatePortNumber(port.port, at.at('port'));
    validateChoice(port.protocol, PROTOCOLS, at.at('protocol'));
    validatePortNumberOrName(port.targetPort, at.at('targetPort'));
    if (port.appProtocol !== undefined) for (const error of qualifiedNameErrors(port.appProtocol)) at.at('appProtocol').invalid(port.appProtocol, error);
  }
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec, errors: FieldErrors): void {
  validateChoice(sessionAffinity, AFFINITIES, errors.at('sessionAffinity'));
  const at = errors.at('sessionAffinityConfig');
  if (sessionAffinity === 'None' && sessionAffinityConfig) at.forbidden('must not be set when session affinity is None');
  if (sessionAffinity !== 'ClientIP') return;
  const why = 'when session affinity type is ClientIP';
  if (!sessionAffinityConfig) return at.required(why);
  if (!sessionAffinityConfig.clientIP) return at.at('clientIP').required(why);
  const { timeoutSeconds } = sessionAffinityConfig.clientIP;
  if (timeoutSeconds === undefined) return at.at('clientIP', 'timeoutSeconds').required(why);
  if (timeoutSeconds <= 0 || timeoutSeconds > MAX_AFFINITY_SECONDS)
    at.at('clientIP', 'timeoutSeconds').invalid(timeoutSeconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`);
}

function validateExternalIps(ips: readonly string[], errors: FieldErrors, settings: KindSettings, former: ReadonlySet<string>): void {
  for (const [index, ip] of ips.entries()) {
    const at = errors.index(index);
    const before = at.list.length;
    validateLegacyIp(ip, at, settings, former);
    if (at.list.length === before) validateEndpointIp(ip, at);
  }
}

const NO_PORT = { Name: '', Protocol: '', AppProtocol: null, Port: 0, TargetPort: 0, NodePort: 0 };

function validateUniquePorts({ type, ports = [] }: ServiceSpec, errors: FieldErrors): void {
  for (const [index, { nodePort }] of ports.entries()) {
    if (type === CLUSTER_IP && nodePort) errors.index(index).at('nodePort').forbidden("may not be used when `type` is 'ClusterIP'");
  }
  const nodePorts = new Set<string>();
  for (const [index, { protocol = '', nodePort }] of ports.entries()) {
    if (!nodePort) continue;
    const key = `${protocol}/${nodePort}`;
    if (nodePorts.has(key)) errors.index(index).at('nodePort').duplicate(nodePort);
    nodePorts.add(key);
  }
  const taken = new Set<string>();
  for (const [index, { protocol = '', port }] of ports.entries()) {
    const key = `${protocol}/${port}`;
    if (taken.has(key)) errors.index(index).duplicate({ ...NO_PORT, Protocol: protocol, Port: port });
    taken.add(key);
  }
}

/** Spaces around a range belong to the API, since ranges were once listed in an annotation. */
function validateSourceRanges({ metadata, spec }: Service, errors: FieldErrors, settings: KindSettings, old: Service | undefined): void {
  const { loadBalancerSourceRanges: ranges = [], type } = spec;
  if (ranges.length > 0) {
    const at = errors.at('spec', 'LoadBalancerSourceRanges');
    if (type !== LOAD_BALANCER) at.forbidden(ONLY_FOR_BALANCERS);
    const former = new Set((old?.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()));
    for (const [index, range] of ranges.entries()) validateLegacyCidr(range.trim(), at.index(index), settings, former);
    return;
  }
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return;
  const at = errors.at('metadata', 'annotations').key(SOURCE_RANGES);
  if (type !== LOAD_BALANCER) at.forbidden(ONLY_FOR_BALANCERS);
  if (annotation.trim() === '' || old?.metadata.annotations?.[SOURCE_RANGES] === annotation) return;
  for (const range of annotation.split(',')) validateLegacyCidr(range.trim(), at, settings);
}

function validateLoadBalancer(spec: ServiceSpec, errors: FieldErrors): void {
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== LOAD_BALANCER) errors.at('allocateLoadBalancerNodePorts').forbidden(ONLY_FOR_BALANCERS);
  validateLoadBalancerClass(spec, errors.at('loadBalancerClass'));
}

/** Twice in an update, as upstream has it. */
export function validateLoadBalancerClass({ type, loadBalancerClass: name }: ServiceSpec, errors: FieldErrors): void {
  if (name === undefined) return;
  if (type !== LOAD_BALANCER) errors.forbidden(ONLY_FOR_BALANCERS);
  else for (const error of qualifiedNameErrors(name)) errors.invalid(name, error);
}

function validateTrafficPolicies(service: Service, settings: KindSettings, errors: FieldErrors): void {
  const { externalTrafficPolicy, healthCheckNodePort, internalTrafficPolicy, trafficDistribution } = service.spec;
  if (isExternallyAccessible(service)) validateChoice(externalTrafficPolicy, TRAFFIC_POLICIES, errors.at('externalTrafficPolicy'));
  else if (externalTrafficPolicy) errors.at('externalTrafficPolicy').invalidTyped(externalTrafficPolicy, 'may only be set for externally-accessible services');
  const at = errors.at('healthCheckNodePort');
  if (needsHealthCheckPort(service)) {
    if (healthCheckNodePort) validatePortNumber(healthCheckNodePort, at);
    else at.required();
  } else if (healthCheckNodePort) at.invalid(healthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  validateOptionalChoice(internalTrafficPolicy, TRAFFIC_POLICIES, errors.at('internalTrafficPolicy'));
  const distributions = isFeatureOn(settings, 'PreferSameTrafficDistribution') ? DISTRIBUTIONS : FORMER_DISTRIBUTIONS;
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution))
    errors.at('trafficDistribution').notSupportedString(trafficDistribution, distributions);
}

/** What a load balancer has reported. */
export function validateLoadBalancerStatus({ object: service, old, settings }: Change<Service>, errors: FieldErrors): void {
  const ingresses = service.status.loadBalancer.ingress ?? [];
  if (service.spec.type !== LOAD_BALANCER && ingresses.length > 0) return errors.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
  const former = new Set((old.status.loadBalancer.ingress ?? []).map(({ ip = '' }) => ip));
  for (const [index, ingress] of ingresses.entries()) validateIngress(ingress, former, settings, errors.index(index));
}

function validateIngress({ ip, ipMode, hostname }: LoadBalancerIngress, former: ReadonlySet<string>, settings: KindSettings, errors: FieldErrors): void {
  if (ip) validateLegacyIp(ip, errors.at('ip'), settings, former);
  if (ip && ipMode === undefined) errors.at('ipMode').required('must be specified when `ip` is set');
  else if (!ip && ipMode !== undefined) errors.at('ipMode').forbidden('may not be specified when `ip` is not set');
  else validateOptionalChoice(ipMode, IP_MODES, errors.at('ipMode'));
  if (!hostname) return;
  for (const error of dns1123SubdomainErrors(hostname)) errors.at('hostname').invalid(hostname, error);
  if (parseIp(hostname)) errors.at('hostname').invalid(hostname, 'must be a DNS name, not an IP address');
}
