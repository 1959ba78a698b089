import { type FieldErrors, TextPointer } from '../../api/field-errors.ts';
import { subdomainName } from '../../api/names.ts';
import { defineResource } from '../define.ts';
import type { PodCertificateRequest, PodCertificateRequestSpec } from '../facts/types/certificates-v1beta1.ts';
import { keepMetadataForStatus } from '../status-metadata.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { isKubernetesSigner, validateSignerName } from '../validation/signer-name.ts';
import { validateUserAnnotations } from '../validation/user-annotations.ts';
import { validatePodKey } from './pod-certificate-key.ts';
import { validatePodCertificateStatus } from './pod-certificate-status.ts';

const DAY_SECONDS = 24 * 60 * 60;
const MIN_EXPIRATION_SECONDS = 60 * 60;
const MAX_EXPIRATION_SECONDS = 91 * DAY_SECONDS;
const UID_MAX_BYTES = 128;
const NAMES = [
  ['podName', 'podUID'],
  ['serviceAccountName', 'serviceAccountUID'],
  ['nodeName', 'nodeUID'],
] as const;
const SPEC: InternalFields = [
  ['SignerName', 'signerName', ''],
  ['PodName', 'podName', ''],
  ['PodUID', 'podUID', ''],
  ['ServiceAccountName', 'serviceAccountName', ''],
  ['ServiceAccountUID', 'serviceAccountUID', ''],
  ['NodeName', 'nodeName', ''],
  ['NodeUID', 'nodeUID', ''],
  ['MaxExpirationSeconds', 'maxExpirationSeconds'],
  ['PKIXPublicKey', 'pkixPublicKey'],
  ['ProofOfPossession', 'proofOfPossession'],
  ['StubPKCS10Request', 'stubPKCS10Request'],
  ['UnverifiedUserAnnotations', 'unverifiedUserAnnotations'],
];

/** A kubelet asks for a certificate for one of its pods (KEP-4317). Who may write the outcome, admission says. */
export const podCertificateRequests = defineResource<PodCertificateRequest>('certificates.k8s.io/v1beta1/podcertificaterequests', {
  validatesFinalizerNames: true,
  allowsUnconditionalUpdate: false,

  validate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate: ({ object: { spec }, old }, errors) => validateUnchanged(spec, old.spec, errors.at('spec'), () => internalForm(spec, SPEC)),

  subresources: {
    status: {
      update: {
        prepareForUpdate: keepMetadataForStatus,
        validateUpdate: ({ object: request, old, now }, errors) => validatePodCertificateStatus(request, old, errors, now),
      },
    },
  },

  selectable: {
    'spec.signerName': ({ spec }) => spec.signerName,
    'spec.podName': ({ spec }) => spec.podName,
    'spec.nodeName': ({ spec }) => spec.nodeName,
  },
  cells: {
    PodName: ({ spec }) => spec.podName,
    ServiceAccountName: ({ spec }) => spec.serviceAccountName,
    NodeName: ({ spec }) => spec.nodeName,
    SignerName: ({ spec }) => spec.signerName,
    State: ({ status }) => (status.conditions ?? []).findLast(({ type }) => ['Issued', 'Denied', 'Failed'].includes(type))?.type ?? 'Pending',
    UnverifiedUserAnnotations: ({ spec }) => annotationsCell(spec.unverifiedUserAnnotations ?? {}),
  },
});

function validateSpec(spec: PodCertificateRequestSpec, errors: FieldErrors): void {
  const { signerName, unverifiedUserAnnotations, maxExpirationSeconds } = spec;
  validateSignerName(signerName, errors.at('signerName'));
  if (unverifiedUserAnnotations) validateUserAnnotations(unverifiedUserAnnotations, errors.at('unverifiedUserAnnotations'));
  for (const [name, uid] of NAMES) {
    // Of the names, a node's alone has a Go type of its own.
    const shown = name === 'nodeName' ? new TextPointer(spec[name]) : spec[name];
    for (const error of subdomainName(spec[name], false)) errors.at(name).invalid(shown, error);
    if (spec[uid] === '') errors.at(uid).invalid('', 'must not be empty');
    if (Buffer.byteLength(spec[uid]) > UID_MAX_BYTES) errors.at(uid).tooLong(UID_MAX_BYTES);
  }
  if (maxExpirationSeconds === undefined) return errors.at('maxExpirationSeconds').required('must be set');
  const maxSeconds = isKubernetesSigner(signerName) ? DAY_SECONDS : MAX_EXPIRATION_SECONDS;
  if (maxExpirationSeconds < MIN_EXPIRATION_SECONDS || maxExpirationSeconds > maxSeconds)
    errors.at('maxExpirationSeconds').invalid(maxExpirationSeconds, `must be in the range [${MIN_EXPIRATION_SECONDS}, ${maxSeconds}]`);
  validatePodKey(spec, errors);
}

function annotationsCell(annotations: Record<string, string>): string {
  const pairs = Object.keys(annotations)
    .toSorted()
    .map((key) => `${key}=${annotations[key]}`);
  return pairs.join(',') || '<none>';
}
