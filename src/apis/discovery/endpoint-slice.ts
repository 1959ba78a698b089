import { changeEach } from '../../util/pending.ts';
import { validateDomainName } from '../../api/domain-name.ts';
import type { KindSettings } from '../../registry/write.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, labelValueErrors, qualifiedNameErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../facts/types/discovery-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateChoice } from '../validation/choice.ts';
import { validateEndpointIp } from '../validation/endpoint-ip.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { ipFamilyOf, legacyIpWarnings, validateCanonicalIp, validateLegacyIp } from '../validation/ip-address.ts';
import { validateLabelMap } from '../validation/label-selector.ts';
import { validateUnchanged } from '../validation/immutable.ts';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1_000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;
const MAX_TOPOLOGY_LABELS = 16;
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
/** Whose slices are known to be good. */
const CONTROLLERS = new Set(['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']);
const HOST_NAME_LABEL = 'kubernetes.io/hostname';
const ZONE_LABEL = 'topology.kubernetes.io/zone';
const SHOWN = 3;
const GATED: GatedFields = [['PreferSameTrafficDistribution', ['endpoints.*.hints.forNodes']]];

/** Some of the addresses behind a service, all of one type. */
export const endpointSlices = defineResource<EndpointSlice>('discovery.k8s.io/v1/endpointslices', {
  generation: 'spec',

  default({ ports }, { turns }) {
    changeEach(turns, 'ports', ports, (port) => {
      port.name ??= '';
      port.protocol ??= 'TCP';
    });
  },
  prepareForCreate({ object: slice, settings }) {
    dropGatedFields(GATED, slice, undefined, settings);
    dropTopology(slice, undefined);
  },
  prepareForUpdate({ object: slice, old, settings }) {
    const hasOtherEndpoints = !equalJson(slice.endpoints ?? [], old.endpoints ?? []);
    // Labels say which service a slice is of, so that a change of them is a change of what it is; topology counts as sent, though it is dropped.
    if (hasOtherEndpoints || !equalJson(slice.metadata.labels ?? {}, old.metadata.labels ?? {})) slice.metadata.generation = (old.metadata.generation ?? 0) + 1;
    dropGatedFields(GATED, slice, old, settings);
    if (hasOtherEndpoints) dropTopology(slice, old);
  },

  validatesMetadataUpdate: false,
  validatesWhole: 'before',
  validate({ object: { metadata, addressType, ports, endpoints }, old, settings }, errors) {
    validateFinalizerNames(metadata, errors);
    validateChoice(addressType, ADDRESS_TYPES, errors.at('addressType'));
    validatePorts(ports ?? [], errors.at('ports'));
    const found = new FieldErrors('endpoints');
    validateEndpoints(endpoints ?? [], addressType, settings, found);
    // What older versions let in may stay as it is.
    if (!found.isEmpty && !(old && equalJson(old.endpoints ?? [], endpoints ?? []))) errors.list.push(...found.list);
  },
  validateUpdate: ({ object: { addressType }, old }, errors) => validateUnchanged(addressType, old.addressType, errors.at('addressType')),

  warnings({ object: { metadata, addressType, endpoints }, old }) {
    const warnings = !old && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
    if (CONTROLLERS.has(metadata.labels?.[MANAGED_BY] ?? '')) return warnings;
    return [
      ...warnings,
      ...(endpoints ?? []).flatMap(({ addresses }, i) =>
        legacyIpWarnings(
          addresses,
          (address) => address,
          (at) => `endpoints[${i}].addresses[${at}]`,
        ),
      ),
    ];
  },

  cells: {
    AddressType: ({ addressType }) => addressType,
    Ports: ({ ports }) => listText((ports ?? []).map(({ name, port }) => (port === undefined ? (name ?? '*') : String(port)))),
    Endpoints: ({ endpoints }) => listText((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  },
});

/** Of a field that v1 knows but does not take: a node's name that only stood there is kept in its own field. */
function dropTopology({ endpoints }: EndpointSlice, old: EndpointSlice | undefined): void {
  const formerNodes = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[HOST_NAME_LABEL]));
  for (const endpoint of endpoints ?? []) {
    const node = endpoint.deprecatedTopology?.[HOST_NAME_LABEL];
    if (node && endpoint.nodeName === undefined && formerNodes.has(node) && dns1123SubdomainErrors(node).length === 0) endpoint.nodeName = node;
    delete endpoint.deprecatedTopology;
  }
}

function validatePorts(ports: readonly EndpointPort[], errors: FieldErrors): void {
  if (ports.length > MAX_PORTS) return errors.tooMany(ports.length, MAX_PORTS);
  const names = new Set<string>();
  for (const [index, { name = '', protocol, appProtocol }] of ports.entries()) {
    const at = errors.index(index);
    if (name !== '') for (const error of dns1123LabelErrors(name)) at.at('name').invalid(name, error);
    if (names.has(name)) at.at('name').duplicateTyped(name);
    names.add(name);
    if (protocol === undefined) at.at('protocol').required();
    else if (!PROTOCOLS.includes(protocol)) at.at('protocol').notSupported(protocol, PROTOCOLS);
    if (appProtocol !== undefined) for (const error of qualifiedNameErrors(appProtocol)) at.at('appProtocol').invalid(appProtocol, error);
  }
}

function validateEndpoints(endpoints: readonly Endpoint[], addressType: string, settings: KindSettings, errors: FieldErrors): void {
  if (endpoints.length > MAX_ENDPOINTS) return errors.tooMany(endpoints.length, MAX_ENDPOINTS);
  for (const [index, endpoint] of endpoints.entries()) validateEndpoint(endpoint, addressType, settings, errors.index(index));
}

function validateEndpoint(
  { addresses, nodeName, deprecatedTopology = {}, hostname, hints }: Endpoint,
  addressType: string,
  settings: KindSettings,
  errors: FieldErrors,
): void {
  validateAddresses(addresses ?? [], addressType, settings, errors.at('addresses'));
  if (nodeName !== undefined) for (const error of dns1123SubdomainErrors(nodeName)) errors.at('nodeName').invalid(nodeName, error);
  const labels = Object.keys(deprecatedTopology);
  const at = errors.at('deprecatedTopology');
  if (labels.length > MAX_TOPOLOGY_LABELS) at.tooMany(labels.length, MAX_TOPOLOGY_LABELS);
  validateLabelMap(deprecatedTopology, at);
  if (Object.hasOwn(deprecatedTopology, ZONE_LABEL)) at.key(ZONE_LABEL).internal('reserved key was not removed in conversion');
  if (hostname !== undefined) for (const error of dns1123LabelErrors(hostname)) errors.at('hostname').invalid(hostname, error);
  if (hints) validateHints(hints, errors.at('hints'));
}

function validateAddresses(addresses: readonly string[], addressType: string, settings: KindSettings, errors: FieldErrors): void {
  if (addresses.length === 0) errors.required('must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) errors.tooMany(addresses.length, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries()) {
    const at = errors.index(index);
    if (addressType === 'FQDN') validateDomainName(address, at);
    if (addressType !== 'IPv4' && addressType !== 'IPv6') continue;
    const before = errors.list.length;
    if (addressType === 'IPv4') validateLegacyIp(address, at, settings);
    else validateCanonicalIp(address, at);
    if (errors.list.length > before) continue;
    if (`IPv${ipFamilyOf(address)}` !== addressType) errors.invalid(address, `must be an ${addressType} address`);
    validateEndpointIp(address, at);
  }
}

function validateHints({ forZones = [], forNodes = [] }: EndpointHints, errors: FieldErrors): void {
  const lists = [
    ['forZones', forZones, labelValueErrors],
    ['forNodes', forNodes, dns1123SubdomainErrors],
  ] as const;
  for (const [field, hints, rule] of lists) {
    const at = errors.at(field);
    if (hints.length > MAX_HINTS) return at.tooMany(hints.length, MAX_HINTS);
    for (const [index, { name }] of hints.entries()) {
      if (hints.findIndex((hint) => hint.name === name) < index) at.index(index).at('name').duplicate(name);
      for (const error of rule(name)) at.index(index).at('name').invalid(name, error);
    }
  }
}

function listText(list: readonly string[]): string {
  const shown = list.slice(0, SHOWN).join(',');
  return list.length > SHOWN ? `${shown} + ${list.length - SHOWN} more...` : shown || '<unset>';
}
