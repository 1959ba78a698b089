import type { Change } from '../../registry/write.ts';
import { formatSeconds, validateMetadataUpdate } from '../../registry/metadata.ts';
import type { UpdateRules } from '../../registry/definition.ts';
import { humanDuration } from '../../util/duration.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type { CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec } from '../facts/types/certificates-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateSignerName } from '../validation/signer-name.ts';
import { certificateRequestProblem } from './certificate-request.ts';
import { certificateProblem } from './issued-certificate.ts';
import { repeats } from '../validation/repeats.ts';

const APPROVED = 'Approved';
const DENIED = 'Denied';
const FAILED = 'Failed';
/** Conditions that are there, and then true, or not there. */
const ONLY_TRUE = [APPROVED, DENIED, FAILED];
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const EXPIRATION_MIN_SECONDS = 600;
const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

/** What one way of updating may write: conditions of approval, the certificate, or neither. */
type Writable = 'approval' | 'certificate' | undefined;

/** Asks a signer for a certificate, in the name of whoever made the request. */
export const certificateSigningRequests = defineResource<CertificateSigningRequest>('certificates.k8s.io/v1/certificatesigningrequests', {
  ...updateRules(undefined),
  naming: { errors: () => [] },

  prepareForCreate({ object: { spec }, context: { user } }) {
    for (const field of ['username', 'uid', 'groups', 'extra'] as const) delete spec[field];
    if (user.name !== '') spec.username = user.name;
    if (user.uid) spec.uid = user.uid;
    if (user.groups.length > 0) spec.groups = [...user.groups];
    if (user.extra && Object.keys(user.extra).length > 0) spec.extra = structuredClone(user.extra);
  },
  prepareForUpdate({ object: request, old }) {
    request.spec = structuredClone(old.spec);
  },

  validate({ object: request, old }, errors) {
    validateFinalizerNames(request.metadata, errors);
    validateSpec(request.spec, errors.at('spec'), old?.spec);
    validateConditions(request, errors.at('status', 'conditions'), old);
    validateCertificate(request, errors.at('status', 'certificate'), old);
  },

  subresources: {
    approval: {
      hasNoTable: true,
      update: {
        ...updateRules('approval'),
        prepareForUpdate(write) {
          const { object: request, old } = write;
          stampConditions(write);
          const { conditions } = request.status;
          request.spec = structuredClone(old.spec);
          request.status = { ...structuredClone(old.status), conditions: conditions ?? [] };
        },
      },
    },
    status: {
      update: {
        ...updateRules('certificate'),
        prepareForUpdate(write) {
          for (const type of [APPROVED, DENIED]) keepConditions(write.object, write.old, type);
          stampConditions(write);
        },
      },
    },
  },

  selectable: { 'spec.signerName': ({ spec }) => spec.signerName },
  cells: {
    SignerName: ({ spec }) => spec.signerName || '<none>',
    Requestor: ({ spec }) => spec.username ?? '',
    RequestedDuration: ({ spec }) => (spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)),
    Condition: conditionText,
  },
});

function updateRules(writable: Writable): UpdateRules<CertificateSigningRequest> {
  return {
    validatesWhole: 'before',
    // Validated here, since upstream does it last.
    validatesMetadataUpdate: false,
    validateUpdate({ object: request, old }, errors) {
      validateConditionsUpdate(request, old, writable === 'approval', errors.at('status', 'conditions'));
      validateCertificateUpdate(request, old, writable === 'certificate', errors.at('status', 'certificate'));
      validateMetadataUpdate(request.metadata, old.metadata, errors.at('metadata'));
      validateFinalizerNames(request.metadata, errors);
    },
  };
}

const conditionsOf = ({ status }: CertificateSigningRequest, type?: string): CertificateSigningRequestCondition[] => {
  const conditions = status?.conditions ?? [];
  return type === undefined ? conditions : conditions.filter((condition) => condition.type === type);
};
const decode = (base64: string | null | undefined): string => Buffer.from(base64 ?? '', 'base64').toString('latin1');
const hasDuplicates = (values: readonly string[]): boolean => new Set(values).size < values.length;

function validateSpec(spec: CertificateSigningRequestSpec, errors: FieldErrors, old: CertificateSigningRequestSpec | undefined): void {
  const problem = certificateRequestProblem(decode(spec.request));
  if (problem !== undefined) errors.at('request').invalid(spec.request, problem);
  validateUsages(spec.usages ?? [], errors.at('usages'), old?.usages ?? []);
  const signer = errors.at('signerName');
  if (spec.signerName === LEGACY_SIGNER && old?.signerName !== LEGACY_SIGNER)
    signer.invalid(spec.signerName, 'the legacy signerName is not allowed via this API version');
  else validateSignerName(spec.signerName, signer);
  const { expirationSeconds } = spec;
  if (expirationSeconds !== undefined && expirationSeconds < EXPIRATION_MIN_SECONDS)
    errors.at('expirationSeconds').invalid(expirationSeconds, 'may not specify a duration less than 600 seconds (10 minutes)');
}

const isKnown = (usage: string): boolean => USAGES.includes(usage);

function validateUsages(usages: readonly string[], errors: FieldErrors, former: readonly string[]): void {
  if (usages.length === 0) errors.required();
  if (former.every(isKnown)) for (const [index, usage] of usages.entries()) if (!isKnown(usage)) errors.index(index).notSupported(usage, USAGES);
  if (hasDuplicates(former)) return;
  const isRepeated = repeats<string>();
  for (const [index, usage] of usages.entries()) if (isRepeated(usage)) errors.index(index).duplicateTyped(usage);
}

/** What the old object has wrong already may stay wrong. */
function validateConditions(request: CertificateSigningRequest, errors: FieldErrors, old: CertificateSigningRequest | undefined): void {
  const formerTypes = old ? conditionsOf(old).map(({ type }) => type) : [];
  const former = new Set(formerTypes);
  const allowsRepeated = former.size < formerTypes.length;
  const allowsBoth = former.has(APPROVED) && former.has(DENIED);
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditionsOf(request).entries()) {
    const at = errors.index(index);
    if (type === '' && !former.has('')) at.at('type').required();
    const statuses = ONLY_TRUE.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') at.at('status').required();
    else if (!statuses.includes(status)) at.at('status').notSupported(status, statuses);
    const opposite = type === APPROVED ? DENIED : type === DENIED ? APPROVED : undefined;
    if (!allowsBoth && opposite !== undefined && seen.has(opposite)) errors.invalidTyped(type, 'Approved and Denied conditions are mutually exclusive');
    if (!allowsRepeated && seen.has(type)) at.at('type').duplicateTyped(type);
    seen.add(type);
  }
}

function validateCertificate({ status }: CertificateSigningRequest, errors: FieldErrors, old: CertificateSigningRequest | undefined): void {
  const certificate = status?.certificate ?? '';
  if (old && (certificate === (old.status?.certificate ?? '') || certificateProblem(decode(old.status.certificate)) !== undefined)) return;
  const problem = certificateProblem(decode(certificate));
  if (problem !== undefined) errors.invalid('<certificate data>', problem);
}

/** Decisions stay; only /approval makes them. */
function validateConditionsUpdate(request: CertificateSigningRequest, old: CertificateSigningRequest, isApproval: boolean, errors: FieldErrors): void {
  const counts = (type: string): [number, number] => [conditionsOf(request, type).length, conditionsOf(old, type).length];
  for (const type of ONLY_TRUE) {
    const [now, before] = counts(type);
    if (now < before) errors.forbidden(`updates may not remove a condition of type "${type}"`);
  }
  if (isApproval) return;
  for (const type of [APPROVED, DENIED]) {
    const [now, before] = counts(type);
    if (now > before) errors.forbidden(`updates may not add a condition of type "${type}"`);
    else if (now === before && !equalJson(conditionsOf(request, type), conditionsOf(old, type)))
      errors.forbidden(`updates may not modify a condition of type "${type}"`);
  }
}

function validateCertificateUpdate({ status }: CertificateSigningRequest, old: CertificateSigningRequest, isWritable: boolean, errors: FieldErrors): void {
  const before = old.status?.certificate ?? '';
  if ((status?.certificate ?? '') === before) return;
  if (!isWritable) errors.forbidden('updates may not set certificate content');
  else if (before !== '') errors.forbidden('updates may not modify existing certificate content');
}

/** A decision is taken over as it was, where there are as many of its kind as before. */
function keepConditions(request: CertificateSigningRequest, old: CertificateSigningRequest, type: string): void {
  const former = conditionsOf(old, type);
  if (former.length !== conditionsOf(request, type).length) return;
  const next = structuredClone(former).values();
  request.status.conditions = conditionsOf(request).map((condition) => (condition.type === type ? next.next().value! : condition));
}

function stampConditions({ object: request, old, now: time }: Change<CertificateSigningRequest>): void {
  const now = formatSeconds(time);
  const times = new Map<string, string>();
  // The first of those that have the same type and status counts.
  for (const { type, status, lastTransitionTime } of conditionsOf(old).toReversed()) if (lastTransitionTime) times.set(`${status} ${type}`, lastTransitionTime);
  for (const condition of conditionsOf(request)) {
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= times.get(`${condition.status} ${condition.type}`) ?? now;
  }
}

/** `Approved,Issued`. */
function conditionText(request: CertificateSigningRequest): string {
  const has = (type: string): boolean => conditionsOf(request, type).length > 0;
  const decision = has(DENIED) ? DENIED : has(APPROVED) ? APPROVED : 'Pending';
  return [decision, ...(has(FAILED) ? [FAILED] : []), ...(request.status?.certificate ? ['Issued'] : [])].join(',');
}
