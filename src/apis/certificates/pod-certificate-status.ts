import { X509Certificate } from 'node:crypto';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { type PemBlock, pemBlocks } from '../../encoding/pem.ts';
import { timeOf } from '../../util/time.ts';
import type { PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus } from '../facts/types/certificates-v1beta1.ts';
import { validateConditions } from '../validation/conditions.ts';
import { podKeyOf } from './pod-certificate-key.ts';

const OUTCOMES = ['Issued', 'Denied', 'Failed'];
const CHAIN_MAX_BYTES = 100 * 1024;
const MINUTE_MS = 60_000;
const MAX_SKEW_MS = 5 * MINUTE_MS;
const MIN_LIFETIME_MS = 60 * MINUTE_MS;
const REFRESH_MARGIN_MS = 10 * MINUTE_MS;
const NANOSECONDS_IN_MS = 1e6;

/** Once it has an outcome, a request's status stays; until then it can only get one. `errors` stands at the object. */
export function validatePodCertificateStatus({ spec, status }: PodCertificateRequest, old: PodCertificateRequest, errors: FieldErrors, now: Date): void {
  const at = errors.at('status');
  validateOutcomes(status, at.at('conditions'));
  if (!errors.isEmpty) return;
  const isSame = equalJson(status, old.status);
  if (outcomeOf(old.status) !== undefined) {
    if (!isSame) at.invalidUnshown('immutable after PodCertificateRequest is issued, denied, or failed');
    return;
  }
  const outcome = outcomeOf(status);
  if (outcome === 'Issued') validateIssued(spec, status, at, now);
  else if (outcome === undefined) {
    if (!isSame) at.invalidUnshown('status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  } else if (!equalJson(status, { conditions: status.conditions }))
    at.invalidUnshown('non-condition status fields must be empty when denying or failing the PodCertificateRequest');
}

const outcomeOf = ({ conditions = [] }: PodCertificateRequestStatus): string | undefined =>
  conditions.find(({ type, status }) => OUTCOMES.includes(type) && status === 'True')?.type;

/** At most one, and it is true. Upstream writes the index as a name of its own. */
function validateOutcomes({ conditions = [] }: PodCertificateRequestStatus, errors: FieldErrors): void {
  let count = 0;
  for (const [index, { type, status }] of conditions.entries()) {
    const at = errors.at(`[${index}]`);
    if (!OUTCOMES.includes(type)) {
      at.at('type').notSupportedString(type, OUTCOMES);
      continue;
    }
    if (++count > 1) at.at('type').invalid(type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"');
    if (status !== 'True') at.at('status').notSupported(status, ['True']);
  }
  validateConditions(conditions, errors);
}

function validateIssued(spec: PodCertificateRequestSpec, status: PodCertificateRequestStatus, errors: FieldErrors, now: Date): void {
  const { certificateChain: chain = '' } = status;
  const at = errors.at('certificateChain');
  if (Buffer.byteLength(chain) > CHAIN_MAX_BYTES) return at.tooLong(CHAIN_MAX_BYTES);
  const [leafBlock, ...intermediates] = pemBlocks(chain);
  if (!leafBlock) return at.invalid(chain, 'issued certificate chain must contain at least one certificate');
  if (leafBlock.type !== 'CERTIFICATE') return at.invalid(chain, 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  const leaf = readCertificate(leafBlock);
  if (!leaf) return at.invalid(chain, 'leaf certificate does not parse as valid X.509');
  validateDnsNames(leaf, at);
  const key = podKeyOf(spec);
  if (!key?.equals(leaf.publicKey)) return at.invalid(chain, 'leaf certificate was not issued to the requested public key');
  if (validateTimes(spec, status, leaf, errors, now)) validateIntermediates(chain, intermediates, at);
}

function readCertificate({ bytes }: PemBlock): X509Certificate | undefined {
  try {
    return new X509Certificate(bytes);
  } catch {
    return undefined;
  }
}

function validateDnsNames({ subjectAltName = '' }: X509Certificate, errors: FieldErrors): void {
  for (const [, name = ''] of subjectAltName.matchAll(/(?:^|, )DNS:([^,]*)/g)) {
    if (name === '') errors.invalid(name, 'leaf certificate should not contain empty DNSName');
    if (name.includes('..')) errors.invalid(name, "leaf certificate's DNSName should not contain '..'");
    if (name.startsWith('.') || name.endsWith('.')) errors.invalid(name, "leaf certificate's DNSName should not start or end with '.'");
  }
}

/** What the status says of its times must be what the certificate says; answers whether it is. */
function validateTimes(
  { maxExpirationSeconds = 0 }: PodCertificateRequestSpec,
  { notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus,
  leaf: X509Certificate,
  errors: FieldErrors,
  now: Date,
): boolean {
  const [beforeAt, afterAt, refreshAt] = [errors.at('notBefore'), errors.at('notAfter'), errors.at('beginRefreshAt')];
  if (notBefore === undefined) beforeAt.required('must be present and consistent with the issued certificate');
  if (notAfter === undefined) afterAt.required('must be present and consistent with the issued certificate');
  if (beginRefreshAt === undefined) refreshAt.required('must be present and in the range [notbefore+10min, notafter-10min]');
  if (notBefore === undefined || notAfter === undefined || beginRefreshAt === undefined) return false;

  const [startMs, endMs, refreshMs] = [notBefore, notAfter, beginRefreshAt].map((time) => Date.parse(time)) as [number, number, number];
  const [leafStartMs, leafEndMs] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  const lifetimeMs = leafEndMs - leafStartMs;
  const shown = (timeMs: number): string => timeOf(new Date(timeMs));
  if (startMs !== leafStartMs) beforeAt.invalid(shown(startMs), 'must be set to the NotBefore time encoded in the leaf certificate');
  else if (Math.abs(startMs - now.getTime()) >= MAX_SKEW_MS)
    beforeAt.invalid(shown(startMs), "must be set to within 5 minutes of kube-apiserver's current time");
  else if (endMs !== leafEndMs) afterAt.invalid(shown(endMs), 'must be set to the NotAfter time encoded in the leaf certificate');
  else if (lifetimeMs < MIN_LIFETIME_MS) errors.at('certificateChain').invalid(lifetimeMs * NANOSECONDS_IN_MS, 'leaf certificate lifetime must be >= 1 hour');
  else if (lifetimeMs > maxExpirationSeconds * 1000)
    errors
      .at('certificateChain')
      .invalid(lifetimeMs * NANOSECONDS_IN_MS, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxExpirationSeconds})`);
  else if (refreshMs < startMs + REFRESH_MARGIN_MS) refreshAt.invalid(shown(refreshMs), 'must be at least 10 minutes after status.notBefore');
  else if (refreshMs > endMs - REFRESH_MARGIN_MS) refreshAt.invalid(shown(refreshMs), 'must be at least 10 minutes before status.notAfter');
  else return true;
  return false;
}

function validateIntermediates(chain: string, blocks: readonly PemBlock[], errors: FieldErrors): void {
  for (const block of blocks) {
    if (block.type !== 'CERTIFICATE') return errors.invalid(chain, 'issued certificate chain must consist entirely of CERTFICATE PEM blocks');
    if (!readCertificate(block)) return errors.invalid(chain, 'intermediate certificate does not parse as valid X.509');
  }
}
