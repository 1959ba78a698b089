import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { defineResource } from '../define.ts';
import type { CSIDriver, CSIDriverSpec, TokenRequest } from '../facts/types/storage-v1.ts';
import { isFeatureOn } from '../features.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateOptionalChoice } from '../validation/choice.ts';
import { validateUnchanged } from '../validation/immutable.ts';

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Persistent', 'Ephemeral'];
const UPDATE_PERIOD_MIN_SECONDS = 10;
const TOKEN_MIN_SECONDS = 600;
const TOKEN_MAX_SECONDS = 2 ** 32;
const TOKEN_WARNING =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

const GATED: GatedFields = [
  ['VolumeLimitScaling', ['spec.preventPodSchedulingIfMissing']],
  ['MutableCSINodeAllocatableCount', ['spec.nodeAllocatableUpdatePeriodSeconds']],
  ['CSIServiceAccountTokenSecrets', ['spec.serviceAccountTokenInSecrets']],
];

/** What a storage driver needs of the cluster. */
export const csiDrivers = defineResource<CSIDriver>('storage.k8s.io/v1/csidrivers', {
  validatesFinalizerNames: true,
  allowsUnconditionalUpdate: false,

  default({ spec }, { settings }) {
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
    if (isFeatureOn(settings, 'VolumeLimitScaling')) spec.preventPodSchedulingIfMissing ??= false;
  },
  prepareForCreate: ({ object: driver, settings }) => dropGatedFields(GATED, driver, undefined, settings),
  /** Counted from nothing: a new one has no generation. */
  prepareForUpdate({ object: driver, old, settings }) {
    const { metadata, spec } = driver;
    dropGatedFields(GATED, driver, old, settings);
    if (!equalJson(spec, old.spec)) metadata.generation = (old.metadata.generation ?? 0) + 1;
  },

  validate: ({ object: { spec } }, errors) => validateSpec(spec, errors.at('spec')),
  validateUpdate({ object: { spec }, old }, errors) {
    validateSpec(spec, errors.at('spec'));
    // Upstream misspells the field.
    validateUnchanged(spec.attachRequired, old.spec.attachRequired, errors.at('spec', 'attachedRequired'));
    validateUnchanged(spec.volumeLifecycleModes, old.spec.volumeLifecycleModes, errors.at('spec', 'volumeLifecycleModes'));
  },
  warnings({ object, old, settings }) {
    if (!isFeatureOn(settings, 'CSIServiceAccountTokenSecrets')) return [];
    const { tokenRequests = [], serviceAccountTokenInSecrets } = object.spec;
    const isNew = !old || !equalJson(tokenRequests, old.spec.tokenRequests ?? []);
    return isNew && tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined ? [TOKEN_WARNING] : [];
  },

  cells: {
    AttachRequired: ({ spec }) => spec.attachRequired ?? true,
    PodInfoOnMount: ({ spec }) => spec.podInfoOnMount ?? false,
    StorageCapacity: ({ spec }) => spec.storageCapacity ?? false,
    TokenRequests: ({ spec }) => (spec.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience).join(',') : '<unset>'),
    RequiresRepublish: ({ spec }) => spec.requiresRepublish ?? false,
    Modes: ({ spec }) => (spec.volumeLifecycleModes ?? []).join(',') || '<none>',
  },
});

function validateSpec(spec: CSIDriverSpec, errors: FieldErrors): void {
  if (spec.attachRequired === undefined) errors.at('attachedRequired').required();
  if (spec.podInfoOnMount === undefined) errors.at('podInfoOnMount').required();
  if (spec.storageCapacity === undefined) errors.at('storageCapacity').required();
  validateOptionalChoice(spec.fsGroupPolicy, FS_GROUP_POLICIES, errors.at('fsGroupPolicy'));
  validateTokenRequests(spec.tokenRequests ?? [], errors.at('tokenRequests'));
  for (const mode of spec.volumeLifecycleModes ?? [])
    if (!LIFECYCLE_MODES.includes(mode)) errors.at('volumeLifecycleModes').notSupported(mode, LIFECYCLE_MODES);
  if (spec.seLinuxMount === undefined) errors.at('seLinuxMount').required();
  validateUpdatePeriod(spec.nodeAllocatableUpdatePeriodSeconds, errors.at('nodeAllocatableUpdatePeriodSeconds'));
  const hasTokens = (spec.tokenRequests ?? []).length > 0;
  if (spec.serviceAccountTokenInSecrets !== undefined && !hasTokens)
    errors
      .at('serviceAccountTokenInSecrets')
      .invalid(spec.serviceAccountTokenInSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified');
}

function validateUpdatePeriod(periodSeconds: number | bigint | undefined, errors: FieldErrors): void {
  if (periodSeconds !== undefined && periodSeconds < UPDATE_PERIOD_MIN_SECONDS)
    errors.invalid(periodSeconds, `must be greater than or equal to ${UPDATE_PERIOD_MIN_SECONDS} seconds`);
}

/** One for each audience. */
function validateTokenRequests(requests: readonly TokenRequest[], errors: FieldErrors): void {
  const audiences = new Set<string>();
  for (const [index, { audience, expirationSeconds }] of requests.entries()) {
    const at = errors.index(index);
    if (audiences.has(audience)) {
      at.at('audience').duplicate(audience);
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    if (expirationSeconds < TOKEN_MIN_SECONDS) at.at('expirationSeconds').invalid(expirationSeconds, 'may not specify a duration less than 10 minutes');
    if (expirationSeconds > TOKEN_MAX_SECONDS) at.at('expirationSeconds').invalid(expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
  }
}
