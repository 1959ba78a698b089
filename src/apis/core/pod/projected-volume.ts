import type { FieldErrors } from '../../../api/field-errors.ts';
import type {
  ConfigMapProjection,
  ProjectedVolumeSource,
  SecretProjection,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../facts/types/core-v1.ts';
import { validateUnreservedPath } from '../../validation/local-path.ts';
import { validateDownwardApiFile } from './downward-api.ts';
import type { PodRules } from './rules.ts';
import { type Claim, validatePodCertificate, validateTrustBundle } from './projected-certificates.ts';
import { requireFields, validateFileMode, validateKeyToPath } from './volume-sources.ts';
import { checkEach } from '../../../api/validation-run.ts';

const MIN_TOKEN_SECONDS = 10 * 60;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Several sources in one directory. Paths that two of them claim are reported at the volume. */
export function validateProjectedVolume({ defaultMode, sources }: ProjectedVolumeSource, errors: FieldErrors, rules: PodRules): void {
  validateFileMode(defaultMode, errors.at('defaultMode'));
  const check = (source: VolumeProjection, index: number, paths: Set<string>): void => {
    const claim: Claim = (path, shown = path) => {
      if (path === '') return;
      if (paths.has(path)) errors.invalid(shown, 'conflicting duplicate paths');
      else paths.add(path);
    };
    const at = errors.at('sources').index(index);
    if (source.secret) validateKeys(source.secret, at.at('secret'), claim);
    if (source.configMap) validateKeys(source.configMap, at.at('configMap'), claim);
    for (const file of source.downwardAPI?.items ?? []) {
      validateDownwardApiFile(file, at.at('downwardAPI'));
      claim(file.path);
    }
    if (source.serviceAccountToken) validateToken(source.serviceAccountToken, at.at('serviceAccountToken'), errors.at('path'), rules);
    if (source.clusterTrustBundle) validateTrustBundle(source.clusterTrustBundle, at.at('clusterTrustBundle'), claim);
    if (source.podCertificate) validatePodCertificate(source.podCertificate, at.at('podCertificate'), claim);
    if (countSources(source) > 1) at.forbidden('may not specify more than 1 volume type per source');
  };
  checkEach(errors, 'sources', sources ?? [], check, () => new Set<string>());
}

function validateKeys(projection: SecretProjection | ConfigMapProjection, errors: FieldErrors, claim: Claim): void {
  requireFields(projection, ['name'], errors);
  for (const [index, item] of (projection.items ?? []).entries()) {
    validateKeyToPath(item, errors.at('items').index(index));
    claim(item.path, projection.name ?? '');
  }
}

function validateToken({ expirationSeconds = 0, path }: ServiceAccountTokenProjection, errors: FieldErrors, pathErrors: FieldErrors, rules: PodRules): void {
  if (expirationSeconds < MIN_TOKEN_SECONDS) errors.at('expirationSeconds').invalid(expirationSeconds, 'may not specify a duration less than 10 minutes');
  if (expirationSeconds > MAX_TOKEN_SECONDS) errors.at('expirationSeconds').invalid(expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
  if (path === '') pathErrors.required();
  else if (!rules.allowsNonLocalTokenPath) validateUnreservedPath(path, pathErrors);
}

const countSources = (source: VolumeProjection): number => Object.values(source).filter((part) => part !== undefined).length;
