import type { FieldErrors } from '../../../api/field-errors.ts';
import type { ClusterTrustBundleProjection, PodCertificateProjection } from '../../facts/types/core-v1.ts';
import { validateLabelSelector } from '../../validation/label-selector.ts';
import { validateUnreservedPath } from '../../validation/local-path.ts';
import { isKubernetesSigner, validateSignerName } from '../../validation/signer-name.ts';
import { signerOfTrustBundle, trustBundleNameErrors } from '../../validation/trust-bundle-name.ts';
import { validateUserAnnotations } from '../../validation/user-annotations.ts';
import { internalPodPart } from './internal-form.ts';

/** Notes a path of the volume, and complains if it is taken; `shown` is what the message names, the path itself where absent. */
export type Claim = (path: string, shown?: string) => void;

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const MIN_EXPIRATION_SECONDS = 60 * 60;
const DAY_SECONDS = 24 * 60 * 60;
const MAX_EXPIRATION_SECONDS = 91 * DAY_SECONDS;
const PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;

/** Certificates to trust, as a file: those of one bundle, or of all bundles of a signer that a selector picks. */
export function validateTrustBundle(projection: ClusterTrustBundleProjection, errors: FieldErrors, claim: Claim): void {
  const { name, signerName, labelSelector, path } = projection;
  if (name !== undefined && signerName !== undefined)
    errors.invalid(internalPodPart('ClusterTrustBundleProjection', projection), 'only one of name and signerName may be used');
  else if (name !== undefined) {
    if (name === '') errors.at('name').required('must be a valid object name');
    for (const error of trustBundleNameErrors(signerOfTrustBundle(name), name, false))
      errors.at('name').invalid(name, `not a valid clustertrustbundlename: ${error}`);
    if (labelSelector) errors.at('labelSelector').invalid(labelSelector, 'labelSelector must be unset if name is specified');
  } else if (signerName !== undefined) {
    if (signerName === '') errors.at('signerName').required('must be a valid signer name');
    validateSignerName(signerName, errors.at('signerName'));
    validateLabelSelector(labelSelector, errors.at('labelSelector'));
  } else errors.required('either name or signerName must be specified');
  if (path === '') errors.at('path').required();
  validateUnreservedPath(path, errors.at('path'));
  claim(path);
}

/** A key and a certificate of the pod's own, which the kubelet has signed. */
export function validatePodCertificate(projection: PodCertificateProjection, errors: FieldErrors, claim: Claim): void {
  const { signerName = '', userAnnotations, keyType = '', maxExpirationSeconds: seconds } = projection;
  validateSignerName(signerName, errors.at('signerName'));
  if (userAnnotations) validateUserAnnotations(userAnnotations, errors.at('userAnnotations'));
  if (!KEY_TYPES.includes(keyType)) errors.at('keyType').notSupportedString(keyType, KEY_TYPES);
  const at = errors.at('maxExpirationSeconds');
  const maxSeconds = isKubernetesSigner(signerName) ? DAY_SECONDS : MAX_EXPIRATION_SECONDS;
  if (seconds !== undefined && seconds < MIN_EXPIRATION_SECONDS) at.invalid(seconds, `if provided, maxExpirationSeconds must be >= ${MIN_EXPIRATION_SECONDS}`);
  if (seconds !== undefined && seconds > maxSeconds) at.invalid(seconds, `if provided, maxExpirationSeconds must be <= ${maxSeconds}`);
  for (const field of PATHS) {
    const path = projection[field] ?? '';
    if (path === '') continue;
    validateUnreservedPath(path, errors.at(field));
    claim(path);
  }
  if (PATHS.every((field) => !projection[field])) errors.required('specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
}
