import type { KindSettings } from '../registry/write.ts';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../apis/facts/types/apiextensions-v1.ts';
import type { ResourceDefinition, Selectable, ServedVersion, Subresource, UpdateRules } from '../registry/definition.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { customType } from '../schema/structural/custom-type.ts';
import type { EmptyPaths } from '../schema/empty-paths.ts';
import { fillDefaults, fillSentDefaults } from '../schema/structural/defaults.ts';
import type { JsonSchema } from '../schema/structural/json-schema.ts';
import { Structure } from '../schema/structural/structure.ts';
import type { ApiObject } from '../api/api-object.ts';
import { forbidden } from '../api/errors.ts';
import { equalJson } from '../encoding/json-equal.ts';
import type { Json, JsonObject } from '../encoding/json-types.ts';
import { compareVersionNames } from '../api/version-names.ts';
import { customColumns } from './columns.ts';
import { type VersionRules, customWarnings, ruleWarnings, validateCustom, validateCustomStatus } from './custom-validation.ts';
import { compileJsonPath, printFound } from './json-path.ts';
import type { Converter } from './conversion/converter.ts';
import { splitPath } from './nested.ts';
import { customScaleSubresource } from './scale.ts';
import { withAppliedEmpties, withDefaultsToCome } from './stored-form.ts';
import { type CompileRules, type ValidationRules, hasRules } from './rules/validation-rules.ts';

/** Types and languages that definitions are built on. */
export interface CustomParts {
  /** Of ObjectMeta and of autoscaling/v1 Scale. */
  metadata(): ObjectSchema;
  scale(): ObjectSchema;
  compileRules: CompileRules;
  /** Called with how long updates were compared with what was there before. */
  onRatcheted(durationMs: number): void;
  /** The definition itself, as long as it is served: its schemas are not kept until they are used. */
  read(): CustomResourceDefinition | undefined;
  /** Whether the definition is being deleted, now. */
  isTerminating(): boolean;
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** A version of a definition, ready to be served. What costs time is made when it is first asked for. */
interface CustomVersion extends ServedVersion {
  readonly source: VersionOutline;
  readonly rules: VersionRules;
}

/**
 * The resource that a CustomResourceDefinition defines, as each of its versions has it, in the definition's order: requests are decoded, admitted and validated
 * in the version that their client speaks, and converted only for the store. Each knows the others, which owners and webhooks may name.
 */
export function versionDefinitions(crd: CustomResourceDefinition, parts: CustomParts, converter: Converter): ResourceDefinition[] {
  const outline = withoutSchemas(crd);
  const versions = outline.spec.versions.map((version) => customVersion(outline, version, parts));
  return versions.map((own) => define(outline, own, versions, parts, converter));
}

/** What of a definition is kept as long as it is served: schemas are most of it, and most are never used. */
interface Outline {
  spec: Omit<CustomResourceDefinition['spec'], 'versions'> & { versions: VersionOutline[] };
  status: Pick<CustomResourceDefinition['status'], 'acceptedNames'>;
}

type VersionOutline = Omit<CustomResourceDefinitionVersion, 'schema'>;

const withoutSchemas = ({ spec, status }: CustomResourceDefinition): Outline => ({
  spec: { ...spec, versions: (spec.versions ?? []).map(({ schema: _schema, ...version }) => version) },
  status: { acceptedNames: status.acceptedNames },
});

function schemaOf(crd: CustomResourceDefinition | undefined, version: string): JsonSchema {
  return (crd?.spec.versions?.find(({ name }) => name === version)?.schema?.openAPIV3Schema ?? KEEPS_ALL) as JsonSchema;
}

/** Nothing of a custom resource depends on features of its server. */
const NO_SETTINGS: KindSettings = { features: new Set(), allowsPrivileged: false };

function define({ spec, status }: Outline, own: CustomVersion, all: readonly CustomVersion[], parts: CustomParts, converter: Converter): ResourceDefinition {
  const names = status.acceptedNames.plural === '' ? spec.names : status.acceptedNames;
  const hasStatus = own.source.subresources?.status !== undefined;
  const update = updateRules(own, hasStatus);
  return {
    settings: NO_SETTINGS,
    group: spec.group,
    version: own.version,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? '',
    namespaced: spec.scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: VERBS,
    get schema() {
      return own.schema;
    },
    storage: { prefix: `${spec.group}/${names.plural}` },
    served: [own, ...all.filter((version) => version !== own)],
    ...(all.length > 1 && { convert: (object: ApiObject, apiVersion: string) => convertedOne(converter, object, apiVersion) }),
    hasStatus,
    ...(hasStatus && { generation: 'spec' as const }),
    prepareForCreate({ object }) {
      object.metadata.generation = 1;
    },
    transactions: {
      beginCreate(object) {
        if (!parts.isTerminating()) return NOTHING_TO_FINISH;
        throw forbidden(
          { group: spec.group, resource: names.plural },
          object.metadata.name ?? '',
          'create not allowed while custom resource definition is terminating',
        );
      },
    },
    validate: ({ object }, errors) => validateCustom(own.rules, object, undefined, errors),
    validatesInSlices: true,
    ...update,
    table: { columns: customColumns(own.source.additionalPrinterColumns) },
    subresources: subresourcesOf(own, parts, update),
  };
}

function convertedOne(converter: Converter, object: ApiObject, apiVersion: string): ApiObject | Promise<ApiObject> {
  const converted = converter.convert([object], apiVersion);
  return converted instanceof Promise ? converted.then(([one]) => one!) : converted[0]!;
}

const NOTHING_TO_FINISH = { commit() {}, revert() {} };

function updateRules(own: CustomVersion, hasStatus: boolean): UpdateRules {
  const { rules } = own;
  return {
    allowsUnconditionalUpdate: false,
    prepareForUpdate({ object, old }) {
      if (!hasStatus && !equalApartFromMetadata(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validateUpdate: ({ object, old }, errors) => validateCustom(rules, object, old, errors),
    warnings: ({ object, old }) => customWarnings(object, old),
    toBeStored: (object, applied) => toBeStored(own, hasStatus, object, applied),
  };
}

/** A status that is dropped from what is created has its default when it is read; one that is null may be gone then. */
function toBeStored(own: CustomVersion, hasStatus: boolean, object: ApiObject & { status?: unknown }, applied: EmptyPaths): ApiObject {
  const isSettledOnRead = object.status === null || (object.status === undefined && own.rules.structure.property('status')?.default !== undefined);
  return withAppliedEmpties(hasStatus && isSettledOnRead ? withDefaultsToCome(own, object) : object, applied);
}

const equalApartFromMetadata = (a: ApiObject, b: ApiObject): boolean => equalJson({ ...a, metadata: undefined }, { ...b, metadata: undefined });

const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

function subresourcesOf(own: CustomVersion, parts: CustomParts, update: UpdateRules): Record<string, Subresource> {
  const { group, version, kind, rules } = own;
  const { subresources } = own.source;
  const status: Subresource = {
    group,
    version,
    kind,
    get schema() {
      return own.schema;
    },
    verbs: SUBRESOURCE_VERBS,
    update: {
      allowsUnconditionalUpdate: false,
      // Of metadata only who owns what is written (…/registry/customresource/status_strategy.go).
      prepareForUpdate({ object, old }) {
        const { managedFields, resourceVersion } = object.metadata;
        object.metadata = { ...old.metadata, ...(resourceVersion !== undefined && { resourceVersion }), managedFields } as ApiObject['metadata'];
        if (managedFields === undefined) delete object.metadata.managedFields;
      },
      validateUpdate: ({ object, old }, errors) => validateCustomStatus(rules, object, old, errors),
      toBeStored: (object, applied) => toBeStored(own, true, object, applied),
      warnings: ({ object }) => [...ruleWarnings(object)],
    },
  };
  return {
    ...(subresources?.status && { status }),
    ...(subresources?.scale && {
      scale: customScaleSubresource(subresources.scale, parts.scale, { ...update, toBeStored: (object) => withDefaultsToCome(own, object) }),
    }),
  };
}

export const isServed = (served: ServedVersion): boolean => (served as CustomVersion).source.served;

function customVersion({ spec, status }: Outline, source: VersionOutline, parts: CustomParts): CustomVersion {
  const { group } = spec;
  const kind = status.acceptedNames.kind || spec.names.kind;
  const listKind = status.acceptedNames.listKind || spec.names.listKind;
  const selectable = selectableOf(source);
  const structure = once(() => new Structure(schemaOf(parts.read(), source.name)));
  const type = once(() =>
    customType({
      name: openApiName(group, source.name, kind),
      group,
      version: source.name,
      kind,
      selectableFields: Object.keys(selectable),
      structure: structure(),
      metadata: parts.metadata(),
    }),
  );
  const validations = once((): ValidationRules | undefined => (hasRules(structure()) ? parts.compileRules(structure()) : undefined));
  return {
    source,
    group,
    version: source.name,
    kind,
    ...(listKind !== undefined && { listKind }),
    get schema() {
      return type();
    },
    rules: {
      get structure() {
        return structure();
      },
      scale: source.subresources?.scale,
      validations,
      onRatcheted: parts.onRatcheted,
    },
    // Nothing is known of what the server itself reads from its store.
    default: (object, context) => (context ? fillSentDefaults : fillDefaults)(structure(), object as unknown as Json),
    subresources: Object.keys(source.subresources ?? {}),
    replicasPath: source.subresources?.scale && splitPath(source.subresources.scale.specReplicasPath),
    ...(source.deprecated && { deprecation: source.deprecationWarning ?? deprecationOf(spec, source) }),
    selectable,
    columns: customColumns(source.additionalPrinterColumns),
  };
}

/** Where the definition has no words of its own; a newer version is told where there is one. */
function deprecationOf({ group, names, versions }: Outline['spec'], { name }: VersionOutline): string {
  const newer = versions.filter((other) => other.served && !other.deprecated && compareVersionNames(name, other.name) < 0).map((other) => other.name);
  const [newest] = newer.sort((a, b) => compareVersionNames(b, a));
  return `${group}/${name} ${names.kind} is deprecated${newest === undefined ? '' : `; use ${group}/${newest} ${names.kind}`}`;
}

const KEEPS_ALL: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** `com.example.v1.Widget` */
const openApiName = (group: string, version: string, kind: string): string => [...group.split('.').toReversed(), version, kind].join('.');

function selectableOf({ selectableFields = [] }: VersionOutline): Selectable {
  return Object.fromEntries(
    selectableFields.map(({ jsonPath }) => {
      const path = once(() => compileJsonPath(jsonPath) ?? (() => []));
      return [jsonPath.replace(/^\./, ''), (object: ApiObject) => printFound(path()(object as unknown as JsonObject)) ?? ''];
    }),
  );
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
