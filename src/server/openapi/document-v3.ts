import type { ObjectSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { Descriptions } from './descriptions.ts';
import { COMMON_KIND, type DocumentSteps, STATUS_PHRASES, infoOf, pathsOf, securityScheme } from './document-parts.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { DocumentMaps, Envelope } from './document-text.ts';
import { type Parameter, descriptionOf } from './parameters.ts';
import type { Route } from './routes.ts';
import { type NamedType, SchemaCollection } from './schemas.ts';

/** …/controller/openapi/builder getOpenAPIV3Config */
const CUSTOM_INFO: JsonObject = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };

const DIALECT = { referencePrefix: '#/components/schemas/', isV3: true };

export interface DocumentV3Options {
  /** `1.36`. */
  release: string;
  descriptions: Descriptions;
  tellsEnums?: boolean | undefined;
  /** Whose document this is; absent for paths outside any group-version. */
  groupVersion?: { group: string; version: string };
  /** Of a document about custom resources alone: every group-version that upstream's clients know. */
  clientGroupVersions?: readonly { group: string; version: string }[] | undefined;
}

/** What the maps of a document are made of. */
export interface MapsV3Options extends Omit<DocumentV3Options, 'release'> {
  /** Types to be defined beside those that the routes name. */
  types?: readonly NamedType[];
  isCustomOnly?: boolean;
}

/** One OpenAPI v3 document: the given routes, and every type that they name (kube-openapi/pkg/builder3). */
export function* documentV3(routes: readonly Route[], options: DocumentV3Options): DocumentSteps {
  const { paths, definitions } = yield* mapsV3(routes, options);
  return envelopeV3(options, paths, Object.keys(definitions).length > 0 ? definitions : undefined) as JsonObject;
}

export function* mapsV3(routes: readonly Route[], options: MapsV3Options): SlicedWork<DocumentMaps> {
  const { descriptions, tellsEnums, types = [], isCustomOnly } = options;
  const schemas = new SchemaCollection({ dialect: DIALECT, descriptions, tellsEnums, kindsOf: (schema) => kindsIn(schema, options), isCustomOnly });
  const write = (parameter: Parameter): JsonObject => parameterV3(parameter, descriptions);
  const paths = yield* pathsOf(routes, {
    parameters: (parameters) => parameters.map(write),
    operation: (route, parameters) => operationV3(route, parameters.map(write), schemas),
  });
  for (const type of types) schemas.use(type);
  return { paths, definitions: yield* schemas.definitions(), parameters: {}, outside: schemas.outside };
}

/** The document of these maps. `schemas`: undefined where there is none. */
export function envelopeV3<M>({ release, clientGroupVersions }: DocumentV3Options, paths: M, schemas: M | undefined): Envelope<M> {
  const components: Envelope<M> = schemas === undefined ? {} : { schemas };
  if (clientGroupVersions) return { openapi: '3.0.0', info: CUSTOM_INFO, paths, components };
  return { openapi: '3.0.0', info: infoOf(release), paths, components: { ...components, securitySchemes: securityScheme } };
}

/**
 * DeleteOptions and WatchEvent belong to every group-version; a document names its own and the core's (apiserver/pkg/server/routes/openapi.go), one about custom
 * resources all that clients know.
 */
function kindsIn({ name, kinds }: ObjectSchema, { groupVersion, clientGroupVersions }: MapsV3Options): readonly GroupVersionKind[] {
  if (clientGroupVersions && COMMON_KIND.test(name)) return clientGroupVersions.map((known) => ({ ...known, kind: kinds[0]!.kind }));
  const isOwnCommon = groupVersion !== undefined && groupVersion.group !== '' && COMMON_KIND.test(name);
  return isOwnCommon ? [...kinds, { ...groupVersion, kind: kinds[0]!.kind }] : kinds;
}

const parameterV3 = (parameter: Parameter, descriptions: Descriptions): JsonObject => ({
  name: parameter.name,
  in: parameter.in,
  ...descriptionOf(parameter, descriptions),
  ...(parameter.in === 'path' && { required: true }),
  schema: { type: parameter.type, uniqueItems: true },
});

function operationV3(route: Route, parameters: readonly JsonObject[], schemas: SchemaCollection): JsonObject {
  const { tag, operationId, description, body, consumes, produces, responses, resource } = route;
  const requestBody = body && { content: content(consumes, schemas.use(body.type)), ...(body.isRequired && { required: true }) };
  const answers = [...responses].map(([code, type]): [string, JsonObject] => [
    String(code),
    { description: STATUS_PHRASES[code]!, content: content(produces, schemas.use(type)) },
  ]);
  return {
    tags: [tag],
    description,
    operationId,
    ...(parameters.length > 0 && { parameters: [...parameters] }),
    ...(requestBody && { requestBody }),
    responses: { ...Object.fromEntries(answers), 401: { description: STATUS_PHRASES[401]! } },
    ...(resource && { 'x-kubernetes-action': resource.action, 'x-kubernetes-group-version-kind': { ...resource.kind } }),
  };
}

const content = (mediaTypes: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(mediaTypes.toSorted().map((mediaType) => [mediaType, { schema }]));
