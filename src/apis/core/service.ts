import { changeEach } from '../../util/pending.ts';
import type { Write } from '../../registry/write.ts';
import type { ResourceDefinition, TransactionHooks } from '../../registry/definition.ts';
import { label1035Name, labelName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { Service, ServicePort, ServiceSpec } from '../facts/types/core-v1.ts';
import { isFeatureOn } from '../features.ts';
import { legacyCidrWarnings } from '../validation/cidr.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { legacyIpWarnings } from '../validation/ip-address.ts';
import { formatLabels } from '../validation/label-selector.ts';
import { validateFamilyChange } from './service/ip-families.ts';
import { CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT, NO_IP, isExternallyAccessible, needsHealthCheckPort } from './service/traits.ts';
import { dropUnusedFields } from './service/type-change.ts';
import {
  TOPOLOGY_HINTS,
  TOPOLOGY_MODE,
  TRAFFIC_POLICIES,
  validateLoadBalancerClass,
  validateLoadBalancerStatus,
  validateService,
} from './service/validation.ts';

const DEFAULT_AFFINITY_SECONDS = 10_800;

/** One name, and usually one address, for a set of pods. `allocation`: addresses and ports come from ranges that a server keeps (`service/allocation.ts`). */
export const defineServices = (allocation: TransactionHooks<Service>): ResourceDefinition<Service> =>
  defineResource<Service>('v1/services', {
    transactions: allocation,
    storage: { prefix: 'services/specs' },
    createsOnUpdate: true,
    // KEP-5311: what DNS takes, no longer only what starts with a letter.
    naming: { errors: (name, isPrefix, settings) => (isFeatureOn(settings, 'RelaxedServiceNameValidation') ? labelName : label1035Name)(name, isPrefix) },

    default({ spec, status }, { turns }) {
      defaultAffinity(spec);
      spec.type ||= CLUSTER_IP;
      changeEach(turns, 'ports', spec.ports, (port) => {
        port.protocol ||= 'TCP';
        if (port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
      });
      if (!spec.externalTrafficPolicy && isExternallyAccessible({ spec } as Service)) spec.externalTrafficPolicy = 'Cluster';
      if (spec.type === CLUSTER_IP || spec.type === NODE_PORT || spec.type === LOAD_BALANCER) spec.internalTrafficPolicy ??= 'Cluster';
      if (spec.type !== LOAD_BALANCER) return;
      spec.allocateLoadBalancerNodePorts ??= true;
      for (const ingress of status.loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
    },
    prepareForCreate: ({ object }) => dropNamePolicy(object),
    prepareForUpdate({ object: service, old }) {
      dropUnusedFields(service, old);
      dropNamePolicy(service);
    },

    validate(write, errors) {
      validateFinalizerNames(write.object.metadata, errors);
      validateService(write, errors);
    },
    validateUpdate(write, errors) {
      const { object: service, old } = write;
      const at = errors.at('spec');
      validateFinalizerNames(service.metadata, errors);
      validateFamilyChange(service, old, at);
      const [name, oldName] = [service.spec.loadBalancerClass, old.spec.loadBalancerClass];
      if (service.spec.type === LOAD_BALANCER && old.spec.type === LOAD_BALANCER && name !== oldName)
        at.at('loadBalancerClass').invalidTyped(name, 'may not change once set');
      validateLoadBalancerClass(service.spec, at.at('loadBalancerClass'));
      const isHealthPortKept = needsHealthCheckPort(old) && needsHealthCheckPort(service);
      if (isHealthPortKept && service.spec.healthCheckNodePort !== old.spec.healthCheckNodePort) at.at('healthCheckNodePort').forbidden('field is immutable');
      validateService(write, errors);
    },
    warnings: serviceWarnings,

    subresources: {
      status: {
        update: {
          validateUpdate(write, errors) {
            validateFinalizerNames(write.object.metadata, errors);
            validateLoadBalancerStatus(write, errors.at('status', 'loadBalancer', 'ingress'));
          },
          warnings: ({ object: { status } }) =>
            legacyIpWarnings(
              status.loadBalancer.ingress,
              ({ ip }) => ip,
              (index) => `status.loadBalancer.ingress[${index}]`,
            ),
        },
      },
    },

    selectable: { 'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '', 'spec.type': ({ spec }) => spec.type ?? '' },
    cells: {
      Type: ({ spec }) => spec.type ?? '',
      'Cluster-IP': ({ spec }) => spec.clusterIPs?.[0] ?? '<none>',
      'External-IP': externalIpText,
      'Port(s)': ({ spec }) => (spec.ports ?? []).map(portText).join(',') || '<none>',
      Selector: ({ spec }) => formatLabels(spec.selector),
    },
  });

/** A mere name has no traffic of its own: the policy for it is let in, for those who always send it, and forgotten. */
function dropNamePolicy({ spec }: Service): void {
  if (spec.type === EXTERNAL_NAME && TRAFFIC_POLICIES.includes(spec.internalTrafficPolicy ?? '')) delete spec.internalTrafficPolicy;
}

function defaultAffinity(spec: ServiceSpec): void {
  spec.sessionAffinity ||= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: DEFAULT_AFFINITY_SECONDS } };
  }
}

const itself = <T>(address: T): T => address;

function serviceWarnings({ object: { metadata, spec } }: Write<Service>): string[] {
  const isHeadless = spec.type === CLUSTER_IP && spec.clusterIP === NO_IP;
  const externalIps = spec.externalIPs ?? [];
  const warnings: string[] = [];
  const warnIf = (condition: boolean, warning: string): void => void (condition && warnings.push(warning));
  warnIf(metadata.annotations?.[TOPOLOGY_HINTS] !== undefined, `annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  if (spec.clusterIP && spec.clusterIP !== NO_IP) warnings.push(...legacyIpWarnings(spec.clusterIPs, itself, (index) => `spec.clusterIPs[${index}]`));
  warnIf(isHeadless && Boolean(spec.loadBalancerIP), 'spec.loadBalancerIP is ignored for headless services');
  warnIf(isHeadless && externalIps.length > 0, 'spec.externalIPs is ignored for headless services');
  warnIf(isHeadless && spec.sessionAffinity !== 'None', 'spec.SessionAffinity is ignored for headless services');
  warnings.push(...legacyIpWarnings(externalIps, itself, (index) => `spec.externalIPs[${index}]`));
  warnIf(
    externalIps.length > 0 && !isHeadless && spec.type !== EXTERNAL_NAME,
    'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
  );
  warnings.push(...legacyIpWarnings([spec.loadBalancerIP], itself, () => 'spec.loadBalancerIP'));
  for (const [index, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    warnings.push(...legacyCidrWarnings(range, `spec.loadBalancerSourceRanges[${index}]`));
  warnIf(spec.type === EXTERNAL_NAME && externalIps.length > 0, `spec.externalIPs is ignored when spec.type is "${EXTERNAL_NAME}"`);
  warnIf(spec.type !== EXTERNAL_NAME && Boolean(spec.externalName), `spec.externalName is ignored when spec.type is not "${EXTERNAL_NAME}"`);
  warnIf(spec.trafficDistribution === 'PreferClose', 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

function externalIpText({ spec, status }: Service): string {
  if (spec.type === EXTERNAL_NAME) return spec.externalName ?? '';
  const external = spec.externalIPs ?? [];
  if (spec.type === CLUSTER_IP || spec.type === NODE_PORT) return external.join(',') || '<none>';
  if (spec.type !== LOAD_BALANCER) return '<unknown>';
  const reported = (status.loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((text) => text !== '');
  return [...[...new Set(reported)].toSorted(), ...external].join(',') || '<pending>';
}

const portText = ({ port, nodePort, protocol = '' }: ServicePort): string => (nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`);
