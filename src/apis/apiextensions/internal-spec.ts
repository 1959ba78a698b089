import { equalJson } from '../../encoding/json-equal.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  JSONSchemaProps,
  SelectableField,
} from '../facts/types/apiextensions-v1.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { schemaIn, schemasIn } from './schema-walk.ts';

/**
 * A definition's spec as upstream's rules see it, and so as its error paths name it: what all versions have alike stands once, above them
 * (`spec.validation` for `spec.versions[*].schema`).
 */
export interface InternalSpec {
  validation: CustomResourceValidation | undefined;
  subresources: CustomResourceSubresources | undefined;
  columns: readonly CustomResourceColumnDefinition[];
  selectableFields: readonly SelectableField[];
  /** Without what was moved up. */
  versions: readonly CustomResourceDefinitionVersion[];
}

export function internalSpec({ versions: listed }: CustomResourceDefinitionSpec): InternalSpec {
  const versions = (listed ?? []).map((version) => Object.assign({}, version));
  return {
    validation: moveUp(versions, 'schema'),
    subresources: moveUp(versions, 'subresources'),
    columns: moveUp(versions, 'additionalPrinterColumns') ?? [],
    selectableFields: moveUp(versions, 'selectableFields') ?? [],
    versions,
  };
}

function moveUp<K extends 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>(
  versions: readonly CustomResourceDefinitionVersion[],
  field: K,
): CustomResourceDefinitionVersion[K] | undefined {
  const value = versions[0]?.[field];
  if (!versions.every((version) => equalJson(version[field], value))) return undefined;
  for (const version of versions) delete version[field];
  return value;
}

/** Of a version: its own, or what all have alike. */
export const subresourcesOf = (spec: InternalSpec, version: CustomResourceDefinitionVersion): CustomResourceSubresources | undefined =>
  spec.versions.some(({ subresources }) => subresources) ? version.subresources : spec.subresources;

const COLUMN: InternalFields = [
  ['Name', 'name', ''],
  ['Type', 'type', ''],
  ['Format', 'format', ''],
  ['Description', 'description', ''],
  ['Priority', 'priority', 0],
  ['JSONPath', 'jsonPath', ''],
];
const SUBRESOURCES: InternalFields = [
  ['Status', 'status', []],
  [
    'Scale',
    'scale',
    [
      ['SpecReplicasPath', 'specReplicasPath', ''],
      ['StatusReplicasPath', 'statusReplicasPath', ''],
      ['LabelSelectorPath', 'labelSelectorPath'],
    ],
  ],
];

/** As upstream shows them in an error. */
export const printedVersions = (versions: readonly CustomResourceDefinitionVersion[]): object[] =>
  versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.schema ? { OpenAPIV3Schema: printedSchema(version.schema.openAPIV3Schema) } : null,
    Subresources: internalForm(version.subresources, SUBRESOURCES),
    AdditionalPrinterColumns: version.additionalPrinterColumns?.map((column) => internalForm(column, COLUMN)) ?? null,
    SelectableFields: version.selectableFields?.map(({ jsonPath }) => ({ JSONPath: jsonPath })) ?? null,
  }));

/** The fields of upstream's struct in their order: the JSON name, and what stands there where there is none. */
export const SCHEMA_FIELDS: readonly (readonly [goName: string, name: keyof JSONSchemaProps, zero: '' | false | null])[] = [
  ['ID', 'id', ''],
  ['Schema', '$schema', ''],
  ['Ref', '$ref', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
  ['Items', 'items', null],
  ['AllOf', 'allOf', null],
  ['OneOf', 'oneOf', null],
  ['AnyOf', 'anyOf', null],
  ['Not', 'not', null],
  ['Properties', 'properties', null],
  ['AdditionalProperties', 'additionalProperties', null],
  ['PatternProperties', 'patternProperties', null],
  ['Dependencies', 'dependencies', null],
  ['AdditionalItems', 'additionalItems', null],
  ['Definitions', 'definitions', null],
  ['ExternalDocs', 'externalDocs', null],
  ['Example', 'example', null],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null],
];

const EXTERNAL_DOCS: InternalFields = [
  ['Description', 'description', ''],
  ['URL', 'url', ''],
];

const RULE: InternalFields = [
  ['Rule', 'rule', ''],
  ['Message', 'message', ''],
  ['MessageExpression', 'messageExpression', ''],
  ['Reason', 'reason'],
  ['FieldPath', 'fieldPath', ''],
  ['OptionalOldSelf', 'optionalOldSelf'],
];

/** How the fields that hold schemas are shown. */
const NESTED: Partial<Record<keyof JSONSchemaProps, (schema: JSONSchemaProps) => unknown>> = {
  items: ({ items }) => printedItems(items),
  allOf: ({ allOf }) => allOf?.map(printedSchema),
  oneOf: ({ oneOf }) => oneOf?.map(printedSchema),
  anyOf: ({ anyOf }) => anyOf?.map(printedSchema),
  not: ({ not }) => printedSchema(not),
  properties: ({ properties }) => printedMap(properties),
  definitions: ({ definitions }) => printedMap(definitions),
  patternProperties: ({ patternProperties }) => printedMap(patternProperties),
  dependencies: ({ dependencies }) => printedDependencies(dependencies),
  additionalProperties: ({ additionalProperties: value }) => ({ Allows: value !== false, Schema: printedSchema(schemaIn(value)) }),
  additionalItems: ({ additionalItems: value }) => ({ Allows: value !== false, Schema: printedSchema(schemaIn(value)) }),
  externalDocs: ({ externalDocs }) => externalDocs && internalForm(externalDocs, EXTERNAL_DOCS),
  'x-kubernetes-validations': (schema) => schema['x-kubernetes-validations']?.map((rule) => internalForm(rule, RULE)),
};

export function printedSchema(schema: JSONSchemaProps | undefined): object | null {
  if (!schema) return null;
  return Object.fromEntries(
    SCHEMA_FIELDS.map(([goName, name, zero]) => [goName, schema[name] === undefined ? zero : (NESTED[name]?.(schema) ?? schema[name])]),
  );
}

const printedDependencies = (dependencies: JSONSchemaProps['dependencies']): object =>
  Object.fromEntries(
    Object.entries(dependencies ?? {}).map(([name, value]) => [
      name,
      { Schema: printedSchema(schemaIn(value)), Property: Array.isArray(value) ? value : null },
    ]),
  );

export const printedItems = (items: JSONSchemaProps['items']): object => ({
  Schema: printedSchema(schemaIn(items)),
  JSONSchemas: Array.isArray(items) ? schemasIn(items).map(printedSchema) : null,
});

const printedMap = (schemas: Record<string, JSONSchemaProps> | undefined): object =>
  Object.fromEntries(Object.entries(schemas ?? {}).map(([key, schema]) => [key, printedSchema(schema)]));
