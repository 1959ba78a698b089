import { X509Certificate } from 'node:crypto';
import type { FieldErrors } from '../../api/field-errors.ts';
import { pemBlocks } from '../../encoding/pem.ts';
import { defineResource } from '../define.ts';
import type { ClusterTrustBundle } from '../facts/types/certificates-v1beta1.ts';
import { sameInVersion } from '../same-in-version.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { validateSignerName } from '../validation/signer-name.ts';
import { trustBundleNameErrors } from '../validation/trust-bundle-name.ts';

const ALPHA_DEPRECATION = 'certificates.k8s.io/v1alpha1 ClusterTrustBundle is deprecated in v1.34+, unavailable in v1.37+';
const BUNDLE_MAX_BYTES = 1024 * 1024;
const OMITTED = '<value omitted>';

/** Certificates that clients may trust, of one signer or of none. Pods can mount them. */
export const clusterTrustBundles = defineResource<ClusterTrustBundle>('certificates.k8s.io/v1beta1/clustertrustbundles', {
  alsoServed: [sameInVersion('certificates.k8s.io', 'v1beta1', 'v1alpha1', ALPHA_DEPRECATION)],
  allowsUnconditionalUpdate: false,

  /** What a name may be follows from the signer, which only `validate` sees. */
  naming: { errors: () => [] },
  validatesWhole: 'before',
  validate({ object: { metadata, spec }, old }, errors) {
    const { signerName = '', trustBundle } = spec;
    const { name = '', generateName = '' } = metadata;
    if (generateName !== '')
      for (const error of trustBundleNameErrors(signerName, generateName, true)) errors.at('metadata', 'generateName').invalid(generateName, error);
    for (const error of trustBundleNameErrors(signerName, name, false)) errors.at('metadata', 'name').invalid(name, error);
    validateFinalizerNames(metadata, errors);
    if (signerName !== '') validateSignerName(signerName, errors.at('spec', 'signerName'));
    if (trustBundle !== old?.spec.trustBundle) validateTrustBundle(trustBundle, errors.at('spec', 'trustBundle'));
  },
  validateUpdate({ object: { metadata, spec }, old }, errors) {
    validateFinalizerNames(metadata, errors);
    validateUnchanged(spec.signerName ?? '', old.spec.signerName ?? '', errors.at('spec', 'signerName'));
  },

  selectable: { 'spec.signerName': ({ spec }) => spec.signerName ?? '' },
  cells: { SignerName: ({ spec }) => spec.signerName || '<none>' },
});

function validateTrustBundle(bundle: string, errors: FieldErrors): void {
  if (Buffer.byteLength(bundle) > BUNDLE_MAX_BYTES) return errors.tooLong(BUNDLE_MAX_BYTES);
  const indexesByAnchor = new Map<string, number[]>();
  let count = 0;
  let hasProblem = false;
  for (const { type, hasHeaders, bytes } of pemBlocks(bundle)) {
    const problem = type !== 'CERTIFICATE' ? `has bad block type: ${type}` : hasHeaders ? 'has PEM block headers' : anchorProblem(bytes);
    if (problem !== undefined) {
      errors.invalid(OMITTED, `entry ${count} ${problem}`);
      hasProblem = true;
    }
    const anchor = bytes.toString('base64');
    indexesByAnchor.set(anchor, [...(indexesByAnchor.get(anchor) ?? []), count]);
    count++;
  }
  if (hasProblem) return;
  if (count === 0) errors.invalid(OMITTED, 'at least one trust anchor must be provided');
  for (const indexes of indexesByAnchor.values()) {
    if (indexes.length > 1) errors.invalid(OMITTED, `duplicate trust anchor (indices [${indexes.join(' ')}])`);
  }
}

function anchorProblem(bytes: Buffer): string | undefined {
  try {
    return new X509Certificate(bytes).ca ? undefined : 'does not have the CA bit set';
  } catch {
    return 'does not parse as X.509';
  }
}
