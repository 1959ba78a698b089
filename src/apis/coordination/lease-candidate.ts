import type { FieldErrors } from '../../api/field-errors.ts';
import { configMapKeyErrors } from '../../api/names.ts';
import { type SemanticVersion, compareSemanticVersions, parseSemanticVersion } from '../../util/semantic-version.ts';
import { defineResource } from '../define.ts';
import type { LeaseCandidate, LeaseCandidateSpec } from '../facts/types/coordination-v1beta1.ts';
import { sameInVersion } from '../same-in-version.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { OLDEST_EMULATION_VERSION, validateStrategy } from './strategy.ts';

const GROUP = 'coordination.k8s.io';
const ALPHA_DEPRECATION = `${GROUP}/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+`;
const UNREAD: SemanticVersion = { core: [0n, 0n, 0n], prerelease: [] };

/** One that would hold a lease, if the server picked it (KEP-4355). */
export const leaseCandidates = defineResource<LeaseCandidate>('coordination.k8s.io/v1beta1/leasecandidates', {
  deprecation: `${GROUP}/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+`,
  alsoServed: [sameInVersion(GROUP, 'v1beta1', 'v1alpha2', ALPHA_DEPRECATION)],
  naming: { errors: configMapKeyErrors },
  createsOnUpdate: true,
  allowsUnconditionalUpdate: false,

  validate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate({ object: { spec }, old }, errors) {
    validateSpec(spec, errors.at('spec'));
    validateUnchanged(spec.leaseName, old.spec.leaseName, errors.at('spec', 'leaseName'));
  },

  cells: {
    LeaseName: ({ spec }) => spec.leaseName,
    BinaryVersion: ({ spec }) => spec.binaryVersion,
    EmulationVersion: ({ spec }) => spec.emulationVersion ?? '',
  },
});

function validateSpec({ leaseName, binaryVersion, emulationVersion = '', strategy = '' }: LeaseCandidateSpec, errors: FieldErrors): void {
  if (leaseName === '') errors.at('leaseName').required();
  const emulated = emulationVersion === '' ? UNREAD : readVersion(emulationVersion, errors.at('emulationVersion'));
  if (binaryVersion === '') errors.at('binaryVersion').required();
  const binary = binaryVersion === '' ? UNREAD : readVersion(binaryVersion, errors.at('binaryVersion'));
  if (binaryVersion !== '' && emulationVersion !== '' && compareSemanticVersions(binary, emulated) < 0)
    errors.at('binaryVersion').invalid(binaryVersion, 'must be greater than or equal to `emulationVersion`');
  if (strategy === '') return errors.at('strategy').required();
  if (strategy === OLDEST_EMULATION_VERSION && compareSemanticVersions(emulated, UNREAD) === 0)
    errors.at('emulationVersion').required(`must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`);
  validateStrategy(strategy, errors.at('strategy'));
}

function readVersion(text: string, errors: FieldErrors): SemanticVersion {
  const version = parseSemanticVersion(text);
  if (version === undefined) errors.invalid(text, 'must be a valid semantic version');
  return version ?? UNREAD;
}
