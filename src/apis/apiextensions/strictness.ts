import { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '../facts/types/apiextensions-v1.ts';
import { caBundleProblem } from '../validation/ca-bundle.ts';
import { hasKnownReview } from './conversion.ts';
import { hasUnprunedDefaults } from './defaults.ts';
import { internalSpec } from './internal-spec.ts';
import { SCHEMA_TYPES, isNonAtomicSet, validateKeysAndItems } from './openapi-rules.ts';
import { someSchemaOf } from './schema-walk.ts';
import type { Strictness } from './spec-rules.ts';
import { isStructural } from './structural.ts';
import { MAX_SELECTABLE_FIELDS } from './version-parts.ts';

/** What is demanded of a new definition. */
export const STRICT: Strictness = {
  requireSchema: true,
  requireStructural: true,
  requirePrunedDefaults: true,
  requireKnownTypes: true,
  requireAtomicSets: true,
  requireSoundKeys: true,
  requireKnownReview: true,
  // Until it is established, nobody is asked to convert.
  allowInvalidCaBundle: true,
  allowManySelectableFields: new Set(),
};

/** What is demanded of a changed one: nothing that the old one broke already. */
export function strictnessFor(definition: CustomResourceDefinition, old: CustomResourceDefinition): Strictness {
  const { spec } = old;
  const schemas = (spec.versions ?? []).map(({ schema }) => schema?.openAPIV3Schema);
  return {
    requireSchema: schemas.every((schema) => schema !== undefined),
    requireStructural: schemas.every(isStructural),
    requirePrunedDefaults: !schemas.some(hasUnprunedDefaults),
    requireKnownTypes: !someSchemaOf(spec, ({ type }) => type !== undefined && !SCHEMA_TYPES.includes(type)),
    requireAtomicSets: !someSchemaOf(spec, isNonAtomicSet),
    requireSoundKeys: !someSchemaOf(spec, hasUnsoundKeys),
    requireKnownReview: hasKnownReview(spec.conversion?.webhook?.conversionReviewVersions ?? []),
    allowInvalidCaBundle: !isEstablished(old) || caBundleProblem(spec.conversion?.webhook?.clientConfig?.caBundle ?? '') !== undefined,
    allowManySelectableFields: new Set(unchangedManyFields(definition.spec, spec)),
  };
}

export const isEstablished = ({ status }: CustomResourceDefinition): boolean =>
  (status.conditions ?? []).some(({ type, status: value }) => type === 'Established' && value === 'True');

const hasUnsoundKeys: Parameters<typeof someSchemaOf>[1] = (schema) => {
  const found = new FieldErrors();
  validateKeysAndItems(schema, found);
  return !found.isEmpty;
};

function* unchangedManyFields(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec): Generator<string> {
  const [now, before] = [internalSpec(spec), internalSpec(old)];
  if (before.selectableFields.length > MAX_SELECTABLE_FIELDS && equalJson(now.selectableFields, before.selectableFields)) yield '';
  const versions = new Map(before.versions.toReversed().map((version) => [version.name, version]));
  for (const { name, selectableFields = [] } of now.versions) {
    const former = versions.get(name)?.selectableFields ?? [];
    if (former.length > MAX_SELECTABLE_FIELDS && equalJson(selectableFields, former)) yield name;
  }
}
