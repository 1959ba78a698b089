import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors } from '../../api/names.ts';
import { once } from '../../api/validation-run.ts';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
} from '../facts/types/apiextensions-v1.ts';
import { validateStringChoice } from '../validation/choice.ts';
import { type ConversionStrictness, needsConversion, validateConversion } from './conversion.ts';
import { type DefaultRules, validateDefaults } from './defaults.ts';
import { type InternalSpec, SCHEMA_FIELDS, internalSpec, printedSchema, printedVersions, subresourcesOf } from './internal-spec.ts';
import { validateLabel, validateDefinitionNames } from './names.ts';
import { type SchemaStrictness, isDefaulted, validateOpenApi } from './openapi-rules.ts';
import { someSchemaOf } from './schema-walk.ts';
import { structuralErrors, structuralProblem } from './structural.ts';
import { validateColumns, validateDeprecation, validateSelectableFields, validateSubresources } from './version-parts.ts';

/** Who knows CEL: x-kubernetes-validations in sound schemas. */
export interface RuleValidation {
  /** To be asked of each default of one schema. */
  defaults(): DefaultRules;
  /** The rules of a schema whose structure and defaults are sound. `flawed`: the fields in which something else is wrong. */
  validate(schema: JSONSchemaProps, flawed: readonly string[], errors: FieldErrors): void;
}

/** What is demanded of a definition; less of one that was stored before it was demanded. */
export interface Strictness extends SchemaStrictness, ConversionStrictness {
  /** Absent: rules are not looked at. */
  rules?: RuleValidation | undefined;
  requireSchema: boolean;
  requireStructural: boolean;
  requirePrunedDefaults: boolean;
  /** Versions, '' for all alike, whose too many selectable fields were there before. */
  allowManySelectableFields: ReadonlySet<string>;
}

const SCOPES = ['Cluster', 'Namespaced'];
/** What a root schema may say where /status is served: nothing that would be lost on `properties.status`. */
const ALLOWED_AT_ROOT =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'.split(
    ' ',
  );

export function validateSpec(spec: CustomResourceDefinitionSpec, demanded: Strictness, errors: FieldErrors): void {
  const internal = internalSpec(spec);
  validateGroup(spec.group, errors.at('group'));
  validateStringChoice(spec.scope, SCOPES, errors.at('scope'));
  const strictness = { ...demanded, requireStructural: demanded.requireStructural || needsStructure(spec) };
  validateSchemasPresent(spec, internal, strictness, errors.at('versions'));
  if (spec.preserveUnknownFields && someSchemaOf(spec, isDefaulted))
    errors.at('preserveUnknownFields').invalid(true, 'must be false in order to use defaults in the schema');
  for (const [index, version] of internal.versions.entries()) {
    validateLabel(version.name, errors.at('versions').index(index).at('name'));
    validateVersion(version, hasStatus(subresourcesOf(internal, version)), strictness, errors.at('versions').index(index));
  }
  validateVersions(internal.versions, spec.versions ? printedVersions(internal.versions) : null, errors);
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) if (!spec.names[field]) errors.at('names', field).required();
  validateDefinitionNames(spec.names, errors.at('names'));
  validateShared(internal, strictness, errors);
  validateSpecConversion(spec, strictness, errors.at('conversion'));
}

/** Pruning, defaults and Kubernetes' own keywords have a meaning only there. */
const needsStructure = (spec: CustomResourceDefinitionSpec): boolean =>
  !spec.preserveUnknownFields || someSchemaOf(spec, (schema) => isDefaulted(schema) || hasExtensions(schema));

const hasExtensions = (schema: JSONSchemaProps): boolean =>
  Object.keys(schema).some((field) => field.startsWith('x-kubernetes-') && field !== 'x-kubernetes-map-type');

function validateGroup(group: string, errors: FieldErrors): void {
  if (group === '') return errors.required();
  const problems = dns1123SubdomainErrors(group);
  if (problems.length > 0) errors.invalid(group, problems.join(','));
  else if (!group.includes('.')) errors.invalid(group, 'should be a domain with at least one dot');
}

function validateSchemasPresent(spec: CustomResourceDefinitionSpec, internal: InternalSpec, { requireSchema }: Strictness, errors: FieldErrors): void {
  if (internal.validation?.openAPIV3Schema) return;
  for (const [index, { schema, served }] of internal.versions.entries()) {
    if (schema?.openAPIV3Schema) continue;
    const at = errors.index(index).at('schema', 'openAPIV3Schema');
    if (requireSchema) at.required();
    else if (served && !spec.preserveUnknownFields) at.required('because otherwise all fields are pruned');
  }
}

function validateVersion(version: CustomResourceDefinitionVersion, isStatusServed: boolean, strictness: Strictness, errors: FieldErrors): void {
  const { name, deprecated = false, deprecationWarning, schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = version;
  validateDeprecation(deprecated, deprecationWarning, errors.at('deprecationWarning'));
  if (schema) validateSchema(schema, isStatusServed, strictness, errors.at('schema'));
  if (subresources) validateSubresources(subresources, errors.at('subresources'));
  validateColumns(additionalPrinterColumns, errors.at('additionalPrinterColumns'));
  if (selectableFields.length === 0) return;
  if (!schema?.openAPIV3Schema) return errors.at('selectableFields').invalid('', 'may only be set when `version.schema.openAPIV3Schema` is not included');
  const problem = structuralProblem(schema.openAPIV3Schema);
  if (problem !== undefined) errors.at('schema', 'openAPIV3Schema').invalid('', problem);
  validateSelectableFields(selectableFields, schema.openAPIV3Schema, strictness.allowManySelectableFields.has(name), errors.at('selectableFields'));
}

function validateVersions(versions: readonly CustomResourceDefinitionVersion[], shown: object[] | null, errors: FieldErrors): void {
  const at = errors.at('versions');
  if (new Set(versions.map(({ name }) => name)).size < versions.length) at.invalid(shown, 'must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1) at.invalid(shown, 'must have exactly one version marked as storage version');
  // Upstream copies the first version's name to where older versions of the API had it, and validates it there again.
  if (versions[0]?.name) validateLabel(versions[0].name, errors.at('version'));
}

/** What all versions have alike. */
function validateShared({ validation, subresources, columns, selectableFields, versions }: InternalSpec, strictness: Strictness, errors: FieldErrors): void {
  const isStatusServed = [subresources, ...versions.map((version) => version.subresources)].some(hasStatus);
  if (validation) validateSchema(validation, isStatusServed, strictness, errors.at('validation'));
  if (subresources) validateSubresources(subresources, errors.at('subresources'));
  validateColumns(columns, errors.at('additionalPrinterColumns'));
  if (selectableFields.length === 0) return;
  const at = errors.at('selectableFields');
  if (!validation) return at.invalid('', 'may only be set when validations.schema is included');
  const { openAPIV3Schema: schema = {} } = validation;
  const problem = structuralProblem(schema);
  if (problem !== undefined) errors.at('schema', 'openAPIV3Schema').invalid('', problem);
  validateSelectableFields(selectableFields, schema, strictness.allowManySelectableFields.has(''), at);
}

const hasStatus = (subresources: CustomResourceSubresources | undefined): boolean => subresources?.status !== undefined;

function validateSchema({ openAPIV3Schema: schema }: CustomResourceValidation, isStatusServed: boolean, strictness: Strictness, errors: FieldErrors): void {
  if (!schema) return;
  const before = errors.list.length;
  const at = errors.at('openAPIV3Schema');
  if (isStatusServed) validateRootForStatus(schema, at);
  if (schema.nullable) at.at('nullable').forbidden('nullable cannot be true at the root');
  const problem = once(at, 'structure', () => structuralProblem(schema));
  const isSound = strictness.requireStructural && problem === undefined && validateStructure(schema, strictness, at);
  const { length: flawsFrom } = errors.list;
  validateOpenApi(schema, strictness, at);
  const flawed = errors.list.slice(flawsFrom).map(({ field }) => field);
  if (isSound) strictness.rules?.validate(schema, flawed, at);
  // It says again what the rules above have said better, if they have said anything.
  if (strictness.requireStructural && problem !== undefined && errors.list.length === before) at.invalid('', problem);
}

/** Answers whether nothing was wrong. */
function validateStructure(schema: JSONSchemaProps, { requirePrunedDefaults, rules }: Strictness, errors: FieldErrors): boolean {
  const before = errors.list.length;
  const found = structuralErrors(schema, errors);
  if (found.length > 0) errors.list.push(...found);
  else validateDefaults(schema, { requirePruned: requirePrunedDefaults, rules: rules?.defaults() }, errors);
  return errors.list.length === before;
}

function validateRootForStatus(schema: JSONSchemaProps, errors: FieldErrors): void {
  for (const [goName, name] of SCHEMA_FIELDS) {
    if (schema[name] === undefined || schema[name] === false) continue;
    if (name === 'type' && schema.type !== 'object')
      return errors.at('type').invalid(schema.type, 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled');
    if (!ALLOWED_AT_ROOT.includes(goName)) {
      return errors.invalid(
        printedSchema(schema),
        `only [${ALLOWED_AT_ROOT.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`,
      );
    }
  }
}

function validateSpecConversion({ conversion, preserveUnknownFields }: CustomResourceDefinitionSpec, strictness: Strictness, errors: FieldErrors): void {
  if (!conversion) return;
  if (needsConversion(conversion) && preserveUnknownFields)
    errors.at('strategy').invalidTyped(conversion.strategy, 'must be None if spec.preserveUnknownFields is true');
  validateConversion(conversion, strictness, errors);
}
