import type { UpstreamForm } from '../../registry/definition.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionSpec } from '../facts/types/apiextensions-v1.ts';
import { DEFAULT_WEBHOOK_PORT } from '../validation/webhook-client-config.ts';
import { internalSpec } from './internal-spec.ts';

/* apiextensions.k8s.io/v1beta1, which nobody is served any more, is what upstream stores definitions as (apiextensions/v1/conversion.go). */

type Version = NonNullable<CustomResourceDefinitionSpec['versions']>[number];
type Conversion = NonNullable<CustomResourceDefinitionSpec['conversion']>;
type Webhook = NonNullable<Conversion['webhook']>;

interface BetaColumn extends Omit<CustomResourceColumnDefinition, 'jsonPath'> {
  JSONPath: string;
}

type BetaVersion = Omit<Version, 'additionalPrinterColumns'> & { additionalPrinterColumns?: BetaColumn[] };

interface BetaSpec extends Omit<CustomResourceDefinitionSpec, 'versions' | 'conversion' | 'preserveUnknownFields'> {
  version?: string;
  /** What all versions have alike stands here, and not in them. */
  validation?: Version['schema'];
  subresources?: Version['subresources'];
  versions?: BetaVersion[];
  additionalPrinterColumns?: BetaColumn[];
  selectableFields?: Version['selectableFields'];
  conversion?: { strategy: string; webhookClientConfig?: Webhook['clientConfig']; conversionReviewVersions?: string[] };
  preserveUnknownFields?: boolean;
}

interface BetaDefinition extends Omit<CustomResourceDefinition, 'spec'> {
  spec: BetaSpec;
}

const GROUP = 'apiextensions.k8s.io';

export const betaDefinition: NonNullable<UpstreamForm['older']>[number] = {
  group: GROUP,
  version: 'v1beta1',
  kind: 'CustomResourceDefinition',
  default: (object) => fillDefaults(object as BetaDefinition),
  toStored: (object) => toVersion1(object as BetaDefinition) as ApiObject,
  fromStored: (object) => toBeta(object as CustomResourceDefinition) as ApiObject,
};

/** Fields in the order of upstream's structs, in which they are written. */
function toBeta({ kind, metadata, spec, status }: CustomResourceDefinition): BetaDefinition {
  return { kind, apiVersion: `${GROUP}/v1beta1`, metadata, spec: betaSpec(spec), status };
}

function betaSpec(spec: CustomResourceDefinitionSpec): BetaSpec {
  const { validation, subresources, columns, selectableFields, versions } = internalSpec(spec);
  const { strategy, webhook } = spec.conversion ?? {};
  return {
    group: spec.group,
    ...(versions[0] && { version: versions[0].name }),
    names: spec.names,
    scope: spec.scope,
    ...(validation && { validation }),
    ...(subresources && { subresources }),
    ...(versions.length > 0 && { versions: versions.map(betaVersion) }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns.map(betaColumn) }),
    ...(selectableFields.length > 0 && { selectableFields: [...selectableFields] }),
    ...(strategy !== undefined && {
      conversion: {
        strategy,
        ...(webhook?.clientConfig && { webhookClientConfig: webhook.clientConfig }),
        ...(webhook?.conversionReviewVersions?.length && { conversionReviewVersions: webhook.conversionReviewVersions }),
      },
    }),
    preserveUnknownFields: spec.preserveUnknownFields ?? false,
  };
}

const betaVersion = ({ additionalPrinterColumns, selectableFields, ...version }: Version): BetaVersion => ({
  ...version,
  ...(additionalPrinterColumns?.length && { additionalPrinterColumns: additionalPrinterColumns.map(betaColumn) }),
  ...(selectableFields?.length && { selectableFields }),
});

const betaColumn = ({ jsonPath, ...column }: CustomResourceColumnDefinition): BetaColumn => ({ ...column, JSONPath: jsonPath });

function toVersion1({ kind, metadata, spec, status }: BetaDefinition): CustomResourceDefinition {
  const { group, names, scope, versions = [], conversion, preserveUnknownFields } = spec;
  return {
    kind,
    apiVersion: `${GROUP}/v1`,
    metadata,
    spec: {
      group,
      names,
      scope,
      versions: versions.map((version) => version1(spec, version)),
      ...(conversion && { conversion: conversion1(conversion) }),
      ...(preserveUnknownFields && { preserveUnknownFields }),
    },
    status,
  } as CustomResourceDefinition;
}

function version1(spec: BetaSpec, version: BetaVersion): Version {
  const { name, served, storage, deprecated, deprecationWarning } = version;
  const columns = spec.additionalPrinterColumns ?? version.additionalPrinterColumns;
  return {
    name,
    served,
    storage,
    deprecated,
    deprecationWarning,
    schema: spec.validation ?? version.schema,
    subresources: spec.subresources ?? version.subresources,
    additionalPrinterColumns: columns?.map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath })),
    selectableFields: spec.selectableFields ?? version.selectableFields,
  } as Version;
}

function conversion1({ strategy, webhookClientConfig, conversionReviewVersions }: NonNullable<BetaSpec['conversion']>): Conversion {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined) return { strategy };
  return { strategy, webhook: { clientConfig: webhookClientConfig, conversionReviewVersions: conversionReviewVersions ?? [] } as Webhook };
}

/** …/v1beta1/defaults.go: old clients could leave out more than today's. */
function fillDefaults({ spec, status }: BetaDefinition): void {
  spec.scope ||= 'Namespaced';
  spec.names.singular ||= spec.names.kind.toLowerCase();
  if (!spec.names.listKind && spec.names.kind !== '') spec.names.listKind = `${spec.names.kind}List`;
  if (!spec.versions?.length && spec.version) spec.versions = [{ name: spec.version, served: true, storage: true }];
  spec.conversion ??= { strategy: 'None' };
  if (spec.conversion.strategy === 'Webhook' && !spec.conversion.conversionReviewVersions?.length) spec.conversion.conversionReviewVersions = ['v1beta1'];
  const service = spec.conversion.webhookClientConfig?.service;
  if (service) service.port ??= DEFAULT_WEBHOOK_PORT;
  spec.preserveUnknownFields ??= true;
  const stored = spec.versions?.find(({ storage }) => storage);
  if (status && !status.storedVersions?.length && stored) status.storedVersions = [stored.name];
}
