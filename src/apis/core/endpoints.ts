import { changeEach } from '../../util/pending.ts';
import type { KindSettings } from '../../registry/write.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '../facts/types/core-v1.ts';
import { validateChoice } from '../validation/choice.ts';
import { validateEndpointIp } from '../validation/endpoint-ip.ts';
import { legacyIpWarnings, validateLegacyIp } from '../validation/ip-address.ts';
import { validatePortNumber } from '../validation/ports.ts';
import { checkEach, gatheredApart } from '../../api/validation-run.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
/** The endpoints controller's own objects are known to be good. */
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const CONTROLLER = 'endpoint-controller';
const ADDRESS_LISTS = ['addresses', 'notReadyAddresses'] as const;
const SHOWN_ADDRESSES = 3;

/** The addresses behind a service, in one object: what EndpointSlices replace. */
export const endpoints = defineResource<Endpoints>('v1/endpoints', {
  validatesFinalizerNames: true,
  storage: { prefix: 'services/endpoints' },
  createsOnUpdate: true,
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',

  default({ subsets }, { turns }) {
    changeEach(turns, 'subsets', subsets, ({ ports }) => {
      for (const port of ports ?? []) port.protocol ||= 'TCP';
    });
  },

  validate({ object: { subsets = [] }, old, settings }, errors) {
    const found = new FieldErrors('subsets');
    gatheredApart(errors, found);
    checkEach(found, 'subsets', subsets, (subset, index) => validateSubset(subset, found.index(index), settings));
    // What older versions let in may stay as it is.
    if (!found.isEmpty && !(old && equalJson(old.subsets ?? [], subsets))) errors.list.push(...found.list);
  },
  validatesWhole: 'after',

  warnings({ object: { metadata, subsets = [] } }) {
    if (metadata.labels?.[MANAGED_BY] === CONTROLLER) return [];
    const warnings: string[] = [];
    for (let index = 0; index < subsets.length; index++) {
      for (const list of ADDRESS_LISTS) {
        const pathOf = (at: number): string => `subsets[${index}].${list}[${at}].ip`;
        if (subsets[index]![list]) warnings.push(...legacyIpWarnings(subsets[index]![list], ({ ip }) => ip, pathOf));
      }
    }
    return warnings;
  },

  cells: { Endpoints: ({ subsets = [] }) => addressesText(subsets) },
});

function validateSubset({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, errors: FieldErrors, settings: KindSettings): void {
  if (addresses.length === 0 && notReadyAddresses.length === 0) errors.required('must specify `addresses` or `notReadyAddresses`');
  checkEach(errors, 'addresses', addresses, (address, index) => validateAddress(address, errors.at('addresses').index(index), settings));
  checkEach(errors, 'notReadyAddresses', notReadyAddresses, (address, index) =>
    validateAddress(address, errors.at('notReadyAddresses').index(index), settings),
  );
  checkEach(errors, 'ports', ports, (port, index) => validatePort(port, ports.length > 1, errors.at('ports').index(index)));
}

function validateAddress({ ip, hostname, nodeName }: EndpointAddress, errors: FieldErrors, settings: KindSettings): void {
  validateLegacyIp(ip, errors.at('ip'), settings);
  if (hostname) for (const error of dns1123LabelErrors(hostname)) errors.at('hostname').invalid(hostname, error);
  if (nodeName !== undefined) for (const error of dns1123SubdomainErrors(nodeName)) errors.at('nodeName').invalid(nodeName, error);
  validateEndpointIp(ip, errors.at('ip'));
}

function validatePort({ name, port, protocol, appProtocol }: EndpointPort, needsName: boolean, errors: FieldErrors): void {
  if (name) for (const error of dns1123LabelErrors(name)) errors.at('name').invalid(name, error);
  else if (needsName) errors.at('name').required();
  validatePortNumber(port, errors.at('port'));
  validateChoice(protocol, PROTOCOLS, errors.at('protocol'));
  if (appProtocol !== undefined) for (const error of qualifiedNameErrors(appProtocol)) errors.at('appProtocol').invalid(appProtocol, error);
}

function addressesText(subsets: readonly EndpointSubset[]): string {
  if (subsets.length === 0) return '<none>';
  const shown: string[] = [];
  for (const text of addressTexts(subsets)) if (shown.push(text) === SHOWN_ADDRESSES) break;
  const count = subsets.reduce((sum, { addresses = [], ports = [] }) => sum + addresses.length * Math.max(1, ports.length), 0);
  return count > SHOWN_ADDRESSES ? `${shown.join(',')} + ${count - SHOWN_ADDRESSES} more...` : shown.join(',');
}

/** Made as they are asked for: addresses and ports multiply. */
function* addressTexts(subsets: readonly EndpointSubset[]): Generator<string> {
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) for (const { ip } of addresses) yield ip;
    for (const { port } of ports) for (const { ip } of addresses) yield ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
  }
}
