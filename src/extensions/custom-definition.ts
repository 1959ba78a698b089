import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '../apis/facts/types/apiextensions-v1.ts';
import type { ResourceDefinition, Selectable, ServedVersion, Subresource, UpdateRules } from '../registry/definition.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { customType } from '../schema/structural/custom-type.ts';
import { fillDefaults } from '../schema/structural/defaults.ts';
import type { JsonSchema } from '../schema/structural/json-schema.ts';
import { Structure } from '../schema/structural/structure.ts';
import { type ApiObject, apiVersionOf } from '../util/api-object.ts';
import { forbidden } from '../util/errors.ts';
import { equalJson } from '../util/json-equal.ts';
import type { Json, JsonObject } from '../util/json-types.ts';
import { compareVersionNames } from '../util/version-names.ts';
import { columnsOf } from './columns.ts';
import { type VersionRules, customWarnings, ruleWarnings, validateCustom, validateCustomStatus } from './custom-validation.ts';
import { compileJsonPath, printFound } from './json-path.ts';
import { scaleSubresource } from './scale.ts';
import { type CompileRules, type ValidationRules, hasRules } from './rules/validation-rules.ts';

/** Types and languages that definitions are built on. */
export interface CustomParts {
  /** Of ObjectMeta and of autoscaling/v1 Scale. */
  metadata(): ObjectSchema;
  scale(): ObjectSchema;
  compileRules: CompileRules;
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

/** The resource that a CustomResourceDefinition defines; all its versions after the one that is stored, since owners may speak one that is served no more. */
export const customDefinition = (crd: CustomResourceDefinition, parts: CustomParts): ResourceDefinition => define(withoutSchemas(crd), parts);

/** The resource as if one version were the one that is stored, and the only one: for versions that only a webhook can convert. */
export function versionDefinition(crd: CustomResourceDefinition, version: string, parts: CustomParts): ResourceDefinition {
  const outline = withoutSchemas(crd);
  const versions = outline.spec.versions.filter(({ name }) => name === version).map((only) => ({ ...only, storage: true }));
  return define({ ...outline, spec: { ...outline.spec, versions } }, parts);
}

export const isConvertedByWebhook = ({ spec }: CustomResourceDefinition): boolean => spec.conversion?.strategy === 'Webhook';

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

function define(outline: Outline, parts: CustomParts): ResourceDefinition {
  const { spec, status } = outline;
  const names = status.acceptedNames.plural === '' ? spec.names : status.acceptedNames;
  const stored = spec.versions.find(({ storage }) => storage)!;
  const others = spec.versions.filter((version) => version !== stored);
  const versions = [stored, ...others].map((version) => customVersion(outline, version, stored, parts));
  const [storedVersion] = versions;
  const hasStatus = stored.subresources?.status !== undefined;
  const byApiVersion = new Map(versions.map((version) => [apiVersionOf(version.group, version.version), version.rules]));
  const rulesOf = (apiVersion: string | undefined): VersionRules => byApiVersion.get(apiVersion ?? '') ?? storedVersion!.rules;
  const update = updateRules(rulesOf, hasStatus);
  return {
    group: spec.group,
    version: stored.name,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? '',
    namespaced: spec.scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: VERBS,
    get schema() {
      return storedVersion!.schema;
    },
    storagePrefix: `${spec.group}/${names.plural}`,
    served: versions,
    // What a webhook converts is a definition of its own in each version, which knows no other.
    losesOwnersOfGoneVersions: spec.conversion?.strategy !== 'Webhook',
    hasStatus,
    ...(hasStatus && { generation: 'spec' as const }),
    prepareForCreate(object) {
      object.metadata.generation = 1;
    },
    beginCreate(object) {
      if (!parts.isTerminating()) return NOTHING_TO_FINISH;
      throw forbidden(
        { group: spec.group, resource: names.plural },
        object.metadata.name ?? '',
        'create not allowed while custom resource definition is terminating',
      );
    },
    validate: (object, errors, _old, apiVersion) => validateCustom(rulesOf(apiVersion), object, undefined, errors),
    ...update,
    columns: columnsOf(stored.additionalPrinterColumns),
    subresources: subresourcesOf(spec.versions, storedVersion!, parts, update, rulesOf),
  };
}

const NOTHING_TO_FINISH = { commit() {}, revert() {} };

type RulesOf = (apiVersion: string | undefined) => VersionRules;

function updateRules(rulesOf: RulesOf, hasStatus: boolean): UpdateRules {
  return {
    allowsUnconditionalUpdate: false,
    prepareForUpdate(object, old) {
      if (!hasStatus && !equalApartFromMetadata(object, old)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
    validateUpdate: (object, old, errors, apiVersion) => validateCustom(rulesOf(apiVersion), object, old, errors),
    warnings: customWarnings,
  };
}

const equalApartFromMetadata = (a: ApiObject, b: ApiObject): boolean => equalJson({ ...a, metadata: undefined }, { ...b, metadata: undefined });

const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

/** Those of all versions; which of them a version has, `subresourcesIn` tells. */
function subresourcesOf(
  versions: readonly VersionOutline[],
  stored: CustomVersion,
  parts: CustomParts,
  update: UpdateRules,
  rulesOf: RulesOf,
): Record<string, Subresource> {
  const { group, version, kind } = stored;
  const scale = (stored.source.subresources ?? versions.find(({ subresources }) => subresources?.scale)?.subresources)?.scale;
  const status: Subresource = {
    group,
    version,
    kind,
    get schema() {
      return stored.schema;
    },
    verbs: SUBRESOURCE_VERBS,
    update: {
      allowsUnconditionalUpdate: false,
      // Of metadata only who owns what is written (…/registry/customresource/status_strategy.go).
      prepareForUpdate(object, old) {
        const { managedFields, resourceVersion } = object.metadata;
        object.metadata = { ...old.metadata, ...(resourceVersion !== undefined && { resourceVersion }), managedFields } as ApiObject['metadata'];
        if (managedFields === undefined) delete object.metadata.managedFields;
        dropNullStatus(object, old);
      },
      validateUpdate: (object, old, errors, apiVersion) => validateCustomStatus(rulesOf(apiVersion), object, old, errors),
      warnings: (object) => [...ruleWarnings(object)],
    },
  };
  return {
    ...(versions.some(({ subresources }) => subresources?.status) && { status }),
    ...(scale && { scale: scaleSubresource(scale, parts.scale, update) }),
  };
}

/** Where there was no status, an applied null is none either, and no mistake. */
function dropNullStatus(object: ApiObject & { status?: unknown }, old: ApiObject & { status?: unknown }): void {
  if (object.status === null && old.status === undefined) delete object.status;
}

/** The subresources that a version has, as its clients see them. */
export function subresourcesIn(definition: ResourceDefinition, served: ServedVersion): Record<string, Subresource> {
  const { subresources } = (served as CustomVersion).source;
  const all = definition.subresources ?? {};
  const { group, version, kind } = served;
  const status =
    subresources?.status &&
    (Object.create(all['status']!, {
      group: { value: group },
      version: { value: version },
      kind: { value: kind },
      schema: { get: () => served.schema },
    }) as Subresource);
  return { ...(status && { status }), ...(subresources?.scale && { scale: all['scale']! }) };
}

export const isServed = (served: ServedVersion): boolean => (served as CustomVersion).source.served;

function customVersion({ spec, status }: Outline, source: VersionOutline, stored: VersionOutline, parts: CustomParts): CustomVersion {
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
  const storedVersion = apiVersionOf(group, stored.name);
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
    },
    default: (object) => fillDefaults(structure(), object as unknown as Json),
    ...(source !== stored && { toStored: (object) => as(object, storedVersion), fromStored: (object) => as(object, apiVersionOf(group, source.name)) }),
    ...(source.deprecated && { deprecation: source.deprecationWarning ?? deprecationOf(spec, source) }),
    selectable,
    columns: columnsOf(source.additionalPrinterColumns),
  };
}

/** Where the definition has no words of its own; a newer version is told where there is one. */
function deprecationOf({ group, names, versions }: Outline['spec'], { name }: VersionOutline): string {
  const newer = versions.filter((other) => other.served && !other.deprecated && compareVersionNames(name, other.name) < 0).map((other) => other.name);
  const [newest] = newer.sort((a, b) => compareVersionNames(b, a));
  return `${group}/${name} ${names.kind} is deprecated${newest === undefined ? '' : `; use ${group}/${newest} ${names.kind}`}`;
}

const KEEPS_ALL: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Conversion `None`: only the name of the version changes. */
function as(object: ApiObject, apiVersion: string): ApiObject {
  object.apiVersion = apiVersion;
  return object;
}

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
