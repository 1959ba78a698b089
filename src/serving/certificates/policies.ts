import type { CertificateFields } from './certificate.ts';
import { Oid } from './oids.ts';

/** The policies that hold at one certificate of a chain, each with those that its children may name for it. */
type PolicyLevel = ReadonlyMap<string, readonly string[]>;

/** How many certificates from here on the rules begin to hold; 0: they do. */
interface Counters {
  explicitPolicy: number;
  policyMapping: number;
  inhibitAny: number;
}

/**
 * Whether a chain (leaf first, the anchor last) has a policy for all of it, where one of its authorities asks for that (RFC 5280 §6.1 as of RFC 9618).
 * The verifier itself takes any policy, so all that matters is whether one is left at the leaf.
 */
export function arePoliciesValid(chain: readonly CertificateFields[]): boolean {
  const length = chain.length - 1;
  if (length === 0) return true;
  const counters: Counters = { explicitPolicy: length + 1, policyMapping: length + 1, inhibitAny: length + 1 };
  let level: PolicyLevel | undefined = new Map([[Oid.anyPolicy, [Oid.anyPolicy]]]);
  for (let index = length - 1; index >= 0; index--) {
    const certificate = chain[index]!;
    const isSelfIssued = certificate.issuer.equals(certificate.subject);
    if (certificate.policies.identifiers.length === 0) level = undefined;
    if (counters.explicitPolicy === 0 && !level) return false;
    if (level) level = nextLevel(level, certificate, counters.inhibitAny > 0 || (index > 0 && isSelfIssued));
    if (index === 0) break;
    const { mappings } = certificate.policies;
    if (level && counters.policyMapping > 0 && mappings.some(({ issuer, subject }) => issuer === Oid.anyPolicy || subject === Oid.anyPolicy)) return false;
    if (level && mappings.length > 0) level = counters.policyMapping > 0 ? mapped(level, mappings) : unmapped(level, mappings);
    advance(counters, certificate, isSelfIssued);
  }
  const isExplicit = counters.explicitPolicy <= 1 || chain[0]!.policies.requireExplicit === 0;
  return !isExplicit || (level !== undefined && level.size > 0);
}

function nextLevel(level: PolicyLevel, { policies }: CertificateFields, allowsAny: boolean): PolicyLevel {
  const expected = new Set([...level.values()].flat());
  const next = new Map<string, readonly string[]>();
  for (const policy of policies.identifiers) {
    if (policy !== Oid.anyPolicy && (expected.has(policy) || level.has(Oid.anyPolicy))) next.set(policy, [policy]);
  }
  if (policies.identifiers.includes(Oid.anyPolicy) && allowsAny) for (const policy of expected) if (!next.has(policy)) next.set(policy, [policy]);
  return next;
}

type Mappings = CertificateFields['policies']['mappings'];

/** From here on, the authorities below name other policies for these. */
function mapped(level: PolicyLevel, mappings: Mappings): PolicyLevel {
  const next = new Map(level);
  const targets = new Map<string, string[]>();
  for (const { issuer, subject } of mappings) {
    if (targets.has(issuer)) targets.get(issuer)!.push(subject);
    else targets.set(issuer, [subject]);
  }
  for (const [issuer, subjects] of targets) if (level.has(issuer) || level.has(Oid.anyPolicy)) next.set(issuer, subjects);
  return next;
}

/** Where mapping is inhibited, policies that would be mapped are lost. */
function unmapped(level: PolicyLevel, mappings: Mappings): PolicyLevel {
  const next = new Map(level);
  for (const { issuer } of mappings) next.delete(issuer);
  return next;
}

function advance(counters: Counters, { policies }: CertificateFields, isSelfIssued: boolean): void {
  const step = (counter: number, limit: number | undefined): number => {
    const stepped = isSelfIssued ? counter : Math.max(0, counter - 1);
    return limit === undefined || limit < 0 ? stepped : Math.min(stepped, limit);
  };
  counters.explicitPolicy = step(counters.explicitPolicy, policies.requireExplicit);
  counters.policyMapping = step(counters.policyMapping, policies.inhibitMapping);
  counters.inhibitAny = step(counters.inhibitAny, policies.inhibitAny);
}
