import { changeEach } from '../../util/pending.ts';
import type { KindSettings } from '../../registry/write.ts';
import { readCidr } from '../../net/cidr.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { checkEach, once } from '../../api/validation-run.ts';
import { defineResource } from '../define.ts';
import { countEmptied } from '../emptied-generation.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from '../facts/types/networking-v1.ts';
import { isStrictlyWithin, legacyCidrWarnings, validateLegacyCidr } from '../validation/cidr.ts';
import { formatLabelSelector, isValidLabelSelector, validateLabelSelector } from '../validation/label-selector.ts';
import { portNameErrors, validatePortNumber } from '../validation/ports.ts';

const INGRESS = 'Ingress';
const EGRESS = 'Egress';
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = [INGRESS, EGRESS];

/** What an old policy has that a new one may not have, and may keep. */
interface Tolerance {
  allowInvalidValues: boolean;
  formerCidrs: ReadonlySet<string>;
  settings: KindSettings;
}

/** Which traffic the selected pods may receive and send. */
export const networkPolicies = defineResource<NetworkPolicy>('networking.k8s.io/v1/networkpolicies', {
  validatesFinalizerNames: true,
  generation: 'spec',

  default({ spec }, { turns }) {
    if ((spec.policyTypes ?? []).length === 0) spec.policyTypes = (spec.egress ?? []).length > 0 ? [INGRESS, EGRESS] : [INGRESS];
    for (const list of ['ingress', 'egress'] as const)
      changeEach<{ ports?: NetworkPolicyPort[] }>(turns, list, spec[list], ({ ports }) => {
        for (const port of ports ?? []) port.protocol ??= 'TCP';
      });
  },

  prepareForUpdate: (write) => countEmptied(write, 'spec'),

  validate: ({ object: { spec }, settings }, errors) => validateSpec(spec, { allowInvalidValues: false, formerCidrs: new Set(), settings }, errors.at('spec')),
  validateUpdate({ object: { spec }, old, settings }, errors) {
    const formerCidrs = new Set(rulesOf(old.spec).flatMap(({ peers }) => peers.flatMap(({ ipBlock }) => (ipBlock ? cidrsOf(ipBlock) : []))));
    validateSpec(spec, { allowInvalidValues: !isValidLabelSelector(old.spec.podSelector), formerCidrs, settings }, errors.at('spec'));
  },
  warnings: ({ object: { spec } }) =>
    rulesOf(spec).flatMap(({ path, peers }) =>
      peers.flatMap(({ ipBlock }, index) => (ipBlock ? blockWarnings(ipBlock, `spec.${path}[${index}].ipBlock`) : [])),
    ),

  cells: { 'Pod-Selector': ({ spec }) => formatLabelSelector(spec.podSelector) },
});

interface CheckedRule {
  ports: readonly NetworkPolicyPort[];
  peers: readonly NetworkPolicyPeer[];
  /** Below `spec`. */
  rulePath: string;
  /** Of the peers. */
  path: string;
}

/** Both directions alike. Rules that name nothing have nothing to be checked. */
function rulesOf({ ingress, egress }: NetworkPolicySpec): CheckedRule[] {
  const rules: CheckedRule[] = [];
  const add = (ports: readonly NetworkPolicyPort[] = [], peers: readonly NetworkPolicyPeer[] = [], direction: string, index: number, field: string): void => {
    if (ports.length === 0 && peers.length === 0) return;
    const rulePath = `${direction}[${index}]`;
    rules.push({ ports, peers, rulePath, path: `${rulePath}.${field}` });
  };
  for (const [index, { ports, from }] of (ingress ?? []).entries()) add(ports, from, 'ingress', index, 'from');
  for (const [index, { ports, to }] of (egress ?? []).entries()) add(ports, to, 'egress', index, 'to');
  return rules;
}

const cidrsOf = ({ cidr, except }: IPBlock): string[] => [cidr, ...(except ?? [])];

const blockWarnings = ({ cidr, except }: IPBlock, path: string): string[] => [
  ...legacyCidrWarnings(cidr, `${path}.cidr`),
  ...(except ?? []).flatMap((excepted, index) => legacyCidrWarnings(excepted, `${path}.except[${index}]`)),
];

function validateSpec(spec: NetworkPolicySpec, tolerance: Tolerance, errors: FieldErrors): void {
  validateLabelSelector(spec.podSelector, errors.at('podSelector'), tolerance);
  checkEach(
    errors,
    'rules',
    once(errors, 'list of rules', () => rulesOf(spec)),
    ({ ports, peers, rulePath, path }) => {
      checkEach(errors.at(rulePath, 'ports'), 'ports', ports, (port, index) => validatePort(port, errors.at(rulePath, 'ports').index(index)));
      checkEach(errors.at(path), 'peers', peers, (peer, index) => validatePeer(peer, tolerance, errors.at(path).index(index)));
    },
  );
  const types = spec.policyTypes ?? [];
  const at = errors.at('policyTypes');
  if (types.length > POLICY_TYPES.length) return at.invalid(types, 'may not specify more than two policyTypes');
  for (const [index, type] of types.entries()) if (!POLICY_TYPES.includes(type)) at.index(index).notSupported(type, POLICY_TYPES);
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, errors: FieldErrors): void {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) errors.at('protocol').notSupported(protocol, PROTOCOLS);
  const end = errors.at('endPort');
  if (typeof port === 'number') {
    validatePortNumber(port, errors.at('port'));
    if (endPort === undefined) return;
    if (endPort < port) end.invalid(port, 'must be greater than or equal to `port`');
    validatePortNumber(endPort, end);
  } else if (port === undefined) {
    if (endPort !== undefined) end.invalid(endPort, 'may not be specified when `port` is not specified');
  } else {
    if (endPort !== undefined) end.invalid(endPort, 'may not be specified when `port` is non-numeric');
    for (const error of portNameErrors(port)) errors.at('port').invalid(port, error);
  }
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, tolerance: Tolerance, errors: FieldErrors): void {
  validateLabelSelector(podSelector, errors.at('podSelector'), tolerance);
  validateLabelSelector(namespaceSelector, errors.at('namespaceSelector'), tolerance);
  if (ipBlock) validateBlock(ipBlock, tolerance, errors.at('ipBlock'));
  if (!podSelector && !namespaceSelector && !ipBlock) errors.required('must specify a peer');
  else if (ipBlock && (podSelector || namespaceSelector)) errors.forbidden('may not specify both ipBlock and another peer');
}

function validateBlock({ cidr, except }: IPBlock, { formerCidrs, settings }: Tolerance, errors: FieldErrors): void {
  if (cidr === '') return errors.at('cidr').required();
  validateLegacyCidr(cidr, errors.at('cidr'), settings, formerCidrs);
  const whole = readCidr(cidr);
  if (!whole) return;
  for (const [index, text] of (except ?? []).entries()) {
    const at = errors.at('except').index(index);
    validateLegacyCidr(text, at, settings, formerCidrs);
    const excepted = readCidr(text);
    if (excepted && !isStrictlyWithin(excepted, whole)) at.invalid(text, 'must be a strict subset of `cidr`');
  }
}
