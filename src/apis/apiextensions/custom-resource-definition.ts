import type { Json } from '../../encoding/json-types.ts';
import { validateMetadata } from '../../registry/metadata.ts';
import type { Change, Write } from '../../registry/write.ts';
import type { EmptyPaths } from '../../schema/empty-paths.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { quote } from '../../util/go-quote.ts';
import { subdomainName } from '../../api/names.ts';
import { withSortedKeys } from '../../encoding/sorted-keys.ts';
import { defineResource } from '../define.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '../facts/types/apiextensions-v1.ts';
import { type GatedFields, dropGatedFields } from '../gated-fields.ts';
import { validateUnchanged } from '../validation/immutable.ts';
import { DEFAULT_WEBHOOK_PORT } from '../validation/webhook-client-config.ts';
import { APPROVED_ANNOTATION, approvalOf, isProtectedGroup } from './approval.ts';
import { unknownFormats } from './formats.ts';
import { validateDefinitionNames } from './names.ts';
import { someSchemaOf } from './schema-walk.ts';
import { type RuleValidation, validateSpec } from './spec-rules.ts';
import { betaDefinition } from './stored-version.ts';
import { STRICT, isEstablished, strictnessFor } from './strictness.ts';

/** On a deleted definition until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
const TERMINATING = 'Terminating';
const PRESERVING = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';

const GATED_STATUS: GatedFields = [['CRDObservedGenerationTracking', ['status.observedGeneration', 'status.conditions.*.observedGeneration']]];

/** A resource that users define. What it serves, and which of its names are taken, is for `src/extensions/`, which tells it in the status. */
export const customResourceDefinitions = defineResource<CustomResourceDefinition>('apiextensions.k8s.io/v1/customresourcedefinitions', {
  storage: { prefix: 'apiextensions.k8s.io/customresourcedefinitions', form: { version: 'v1beta1', isJson: true, older: [betaDefinition] } },
  generation: 'spec',
  allowsUnconditionalUpdate: false,

  default({ spec, status }) {
    sortJsonValues(spec);
    spec.names.singular ||= spec.names.kind.toLowerCase();
    if (!spec.names.listKind && spec.names.kind !== '') spec.names.listKind = `${spec.names.kind}List`;
    spec.conversion ??= { strategy: 'None' };
    const service = spec.conversion.webhook?.clientConfig?.service;
    if (service) service.port ??= DEFAULT_WEBHOOK_PORT;
    const stored = storageVersion(spec);
    if ((status.storedVersions ?? []).length === 0 && stored !== undefined) status.storedVersions = [stored];
  },

  prepareForCreate({ object: definition }) {
    const stored = storageVersion(definition.spec);
    definition.status = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: stored === undefined ? null : [stored] };
  },
  prepareForUpdate({ object: { spec, status } }) {
    const stored = storageVersion(spec);
    if (stored !== undefined && !(status.storedVersions ?? []).includes(stored)) status.storedVersions = [...(status.storedVersions ?? []), stored];
  },

  // The name follows from the spec, so metadata is validated below.
  validatesMetadata: false,
  validatesMetadataUpdate: true,
  validate: (write, errors) => validateDefinition(write, undefined, errors),
  validateUpdate: (change, errors) => validateDefinitionUpdate(change, undefined, errors),
  warnings: ({ object: { spec }, old }) => {
    const known = new Set(old ? unknownFormats(old.spec) : []);
    return unknownFormats(spec)
      .filter((format) => !known.has(format))
      .map((format) => `unrecognized format ${quote(format)}`);
  },

  // The first DELETE only marks it (registry/customresourcedefinition/etcd.go); `src/extensions/` empties the resource and takes the finalizer off.
  deletion: {
    mayRemove: ({ metadata }) => metadata.deletionTimestamp !== undefined,
    mark: markTerminating,
    marksBeforePropagation: true,
  },

  subresources: {
    status: {
      hasNoTable: true,
      update: {
        allowsUnconditionalUpdate: false,
        prepareForUpdate: ({ object: definition, old, settings }) => dropGatedFields(GATED_STATUS, definition, old, settings),
        validateUpdate({ object: { status } }, errors) {
          validateDefinitionNames(status.acceptedNames, errors.at('status', 'acceptedNames'));
        },
      },
    },
  },
});

/** Upstream reads what stands here into Go's maps, which are written in order. */
function sortJsonValues(spec: CustomResourceDefinitionSpec): void {
  someSchemaOf(spec, (schema) => {
    for (const field of ['default', 'example'] as const) if (typeof schema[field] === 'object') schema[field] = withSortedKeys(schema[field]);
    if (schema.enum?.some((value) => typeof value === 'object')) schema.enum = schema.enum.map(withSortedKeys);
    return false;
  });
}

/** `rules`: who knows their language; without it they are not looked at. */
export function validateDefinition(
  { object: definition, sentEmpty }: Write<CustomResourceDefinition>,
  rules: RuleValidation | undefined,
  errors: FieldErrors,
): void {
  const { metadata, spec } = definition;
  const required = `${spec.names.plural}.${spec.group}`;
  const nameErrors = (name: string, isPrefix: boolean): string[] => [
    ...subdomainName(name, isPrefix),
    ...(name === required ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
  validateMetadata(metadata, false, nameErrors, errors.at('metadata'));
  validateSpec(spec, { ...STRICT, rules, emptyDependencies: emptyDependenciesIn(spec, sentEmpty) }, errors.at('spec'));
  validateRest(definition, undefined, errors);
}

export function validateDefinitionUpdate(
  { object: definition, old, sentEmpty }: Change<CustomResourceDefinition>,
  rules: RuleValidation | undefined,
  errors: FieldErrors,
): void {
  const { spec } = definition;
  const at = errors.at('spec');
  validateSpec(spec, { ...strictnessFor(definition, old), rules, emptyDependencies: emptyDependenciesIn(spec, sentEmpty) }, at);
  if (isEstablished(old)) {
    validateUnchanged(spec.scope, old.spec.scope, at.at('scope'));
    validateUnchanged(spec.names.kind, old.spec.names.kind, at.at('names', 'kind'));
  }
  validateUnchanged(spec.group, old.spec.group, at.at('group'));
  validateUnchanged(spec.names.plural, old.spec.names.plural, at.at('names', 'plural'));
  validateRest(definition, old, errors);
}

const emptyDependenciesIn = (spec: CustomResourceDefinitionSpec, sentEmpty: EmptyPaths): ReadonlySet<object> =>
  sentEmpty.at('spec').objectsIn(spec as unknown as Json, 'dependencies');

const storageVersion = ({ versions }: CustomResourceDefinitionSpec): string | undefined => (versions ?? []).find(({ storage }) => storage)?.name;

/** Unlike other deletions, this one is no change of the spec, and knows no grace period. */
function markTerminating({ metadata, status }: CustomResourceDefinition): void {
  const conditions = status.conditions ?? [];
  if (conditions.some(({ type }) => type === TERMINATING)) return;
  metadata.generation = Math.max(1, (metadata.generation ?? 1) - 1);
  delete metadata.deletionGracePeriodSeconds;
  metadata.finalizers = [...new Set([...(metadata.finalizers ?? []), CLEANUP_FINALIZER])];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  status.conditions = [
    ...conditions,
    { type: TERMINATING, status: 'True', lastTransitionTime: metadata.deletionTimestamp!, reason: 'InstanceDeletionPending', message },
  ];
}

function validateRest(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, errors: FieldErrors): void {
  const { spec, status } = definition;
  validateDefinitionNames(status.acceptedNames, errors.at('status', 'acceptedNames'));
  validateStoredVersions(definition, errors.at('status', 'storedVersions'));
  validateApproval(definition, old, errors.at('metadata', 'annotations').key(APPROVED_ANNOTATION));
  if (spec.preserveUnknownFields && !old?.spec.preserveUnknownFields) errors.at('spec', 'preserveUnknownFields').invalid(true, PRESERVING);
}

/** Objects may be stored in any version that once was the storage version. */
function validateStoredVersions({ spec, status }: CustomResourceDefinition, errors: FieldErrors): void {
  const storedVersions = status.storedVersions ?? [];
  if (storedVersions.length === 0) return errors.invalid(status.storedVersions ?? null, 'must have at least one stored version');
  const unseen = new Map(storedVersions.map((version, index) => [version, index]));
  for (const { name, storage } of spec.versions ?? []) {
    if (storage && !unseen.has(name)) errors.invalid(storedVersions, `must have the storage version ${name}`);
    unseen.delete(name);
  }
  for (const [version, index] of unseen) {
    const how = `until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`;
    errors.index(index).invalid(version, `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions ${how}`);
  }
}

/** An approval that is as it was is nobody's fault. */
function validateApproval({ metadata, spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined, errors: FieldErrors): void {
  if (!isProtectedGroup(spec.group)) return;
  const { state, reason } = approvalOf(metadata.annotations);
  if (old && approvalOf(old.metadata.annotations).state === state) return;
  if (state === 'missing') errors.required(reason);
  if (state === 'invalid') errors.invalid(metadata.annotations?.[APPROVED_ANNOTATION], reason);
}
