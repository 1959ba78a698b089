import type { KindSettings } from '../../registry/write.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors, label1035Name, labelName, subdomainName } from '../../api/names.ts';
import { checkEach } from '../../api/validation-run.ts';
import { defineResource } from '../define.ts';
import type { Ingress, IngressLoadBalancerIngress, IngressRule, IngressSpec, IngressTLS } from '../facts/types/networking-v1.ts';
import { isFeatureOn } from '../features.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateHostPattern, validateNoIp } from '../validation/host-names.ts';
import { legacyIpWarnings, validateLegacyIp } from '../validation/ip-address.ts';
import { type IngressTolerance, validateBackend, validateIngressRule, validateRuleValue } from './ingress-rules.ts';

/** How the class was named before there was a field for it. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const MAX_SHOWN_HOSTS = 3;

/** What from outside is let in, by host and path, and to which services. */
export const ingresses = defineResource<Ingress>('networking.k8s.io/v1/ingresses', {
  validatesFinalizerNames: true,
  storage: { prefix: 'ingress' },
  generation: 'spec',

  validatesWhole: 'after',
  validate({ object: { metadata, spec }, old, settings }, errors) {
    validateSpec(spec, errors.at('spec'), old?.spec, settings);
    const className = metadata.annotations?.[CLASS_ANNOTATION];
    const isContradicted = !old && className !== undefined && spec.ingressClassName !== undefined && className !== spec.ingressClassName;
    if (isContradicted) errors.at('annotations', CLASS_ANNOTATION).invalid(className, 'must match `ingressClassName` when both are specified');
  },
  warnings({ object: { metadata, spec, status }, old }) {
    const pathOf = (index: number): string => `status.loadBalancer.ingress[${index}]`;
    if (old) return legacyIpWarnings(balancersOf(status), ({ ip }) => ip, pathOf);
    const isByAnnotation = metadata.annotations?.[CLASS_ANNOTATION] !== undefined && spec.ingressClassName === undefined;
    return isByAnnotation ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`] : [];
  },

  subresources: {
    status: {
      update: {
        validateUpdate({ object: { metadata, status }, old, settings }, errors) {
          validateFinalizerNames(metadata, errors);
          const former = new Set(balancersOf(old.status).flatMap(({ ip }) => (ip ? [ip] : [])));
          for (const [index, balancer] of balancersOf(status).entries())
            validateBalancer(balancer, errors.at('status', 'loadBalancer', 'ingress').index(index), settings, former);
        },
      },
    },
  },

  cells: {
    Class: ({ spec }) => spec.ingressClassName ?? '<none>',
    Hosts: ({ spec }) => formatHosts(spec.rules ?? []),
    Address: ({ status }) => [...new Set(balancersOf(status).flatMap(({ ip, hostname }) => ip || hostname || []))].toSorted().join(','),
    Ports: ({ spec }) => ((spec.tls ?? []).length > 0 ? '80, 443' : '80'),
  },
});

const balancersOf = (status: Ingress['status'] | undefined): IngressLoadBalancerIngress[] => status?.loadBalancer?.ingress ?? [];

function validateSpec(spec: IngressSpec, errors: FieldErrors, old: IngressSpec | undefined, settings: KindSettings): void {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  if (rules.length === 0 && !defaultBackend) errors.invalid(spec.rules ?? null, 'either `defaultBackend` or `rules` must be specified');
  const tolerance = toleranceFor(old, settings);
  if (defaultBackend) validateBackend(defaultBackend, errors.at('defaultBackend'), tolerance);
  checkEach(errors, 'rules', rules, (rule, index) => validateIngressRule(rule, errors.at('rules').index(index), tolerance));
  const allowInvalidSecretName = (old?.tls ?? []).some(({ secretName }) => secretNameErrors(secretName).length > 0);
  checkEach(errors, 'tls', tls, (entry, index) => validateTls(entry, errors.at('tls').index(index), allowInvalidSecretName));
  if (ingressClassName !== undefined)
    for (const error of subdomainName(ingressClassName, false)) errors.at('ingressClassName').invalid(ingressClassName, error);
}

/** Let in by older releases, and kept. */
const toleranceFor = (old: IngressSpec | undefined, settings: KindSettings): IngressTolerance => ({
  invalidWildcardRules: (old?.rules ?? []).some(isInvalidWildcardRule),
  relaxedServiceNames: isFeatureOn(settings, 'RelaxedServiceNameValidation') || serviceNamesOf(old).some(isOnlyRelaxedName),
});

const serviceNamesOf = ({ defaultBackend, rules = [] }: IngressSpec = {}): string[] =>
  [defaultBackend, ...rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend))].flatMap((backend) => backend?.service?.name ?? []);

const isOnlyRelaxedName = (name: string): boolean => labelName(name, false).length === 0 && label1035Name(name, false).length > 0;

function isInvalidWildcardRule(rule: IngressRule): boolean {
  const errors = new FieldErrors();
  if (rule.host?.includes('*')) validateRuleValue(rule, errors, { invalidWildcardRules: false, relaxedServiceNames: false });
  return !errors.isEmpty;
}

const secretNameErrors = (name: string | undefined): string[] => (name ? subdomainName(name, false) : []);

function validateTls({ hosts = [], secretName }: IngressTLS, errors: FieldErrors, allowInvalidSecretName: boolean): void {
  checkEach(errors, 'hosts', hosts, (host, index) => validateHostPattern(host, errors.at('hosts').index(index)));
  if (!allowInvalidSecretName) for (const error of secretNameErrors(secretName)) errors.at('secretName').invalid(secretName, error);
}

function validateBalancer({ ip, hostname }: IngressLoadBalancerIngress, errors: FieldErrors, settings: KindSettings, formerIps: ReadonlySet<string>): void {
  if (ip) validateLegacyIp(ip, errors.at('ip'), settings, formerIps);
  if (!hostname) return;
  for (const error of dns1123SubdomainErrors(hostname)) errors.at('hostname').invalid(hostname, error);
  validateNoIp(hostname, errors.at('hostname'));
}

/** `a,b,c + 2 more...`: what is left over counts rules, also those without a host. */
function formatHosts(rules: readonly IngressRule[]): string {
  const shown: string[] = [];
  let hasMore = false;
  for (const { host } of rules) {
    if (shown.length === MAX_SHOWN_HOSTS) hasMore = true;
    else if (host) shown.push(host);
  }
  if (shown.length === 0) return '*';
  return hasMore ? `${shown.join(',')} + ${rules.length - MAX_SHOWN_HOSTS} more...` : shown.join(',');
}
