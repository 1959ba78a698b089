import type { ObjectSchema } from '../../schema/schema.ts';
import type { GroupVersionKind } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { Descriptions } from './descriptions.ts';
import { COMMON_KIND, type DocumentSteps, STATUS_PHRASES, infoOf, pathsOf, securityDefinition } from './document-parts.ts';
import type { SlicedWork } from '../../util/time-slice.ts';
import type { DocumentMaps, Envelope } from './document-text.ts';
import { type Parameter, compareText, descriptionOf } from './parameters.ts';
import type { Route } from './routes.ts';
import { type NamedType, SchemaCollection } from './schemas.ts';
import { SharedParameters, type WrittenParameters } from './shared-parameters.ts';

const DIALECT = { referencePrefix: '#/definitions/', isV3: false };

export interface DocumentV2Options {
  release: string;
  descriptions: Descriptions;
  tellsEnums?: boolean | undefined;
  /** Every group-version that upstream's scheme knows, served or not: DeleteOptions and WatchEvent are listed under each. */
  knownGroupVersions: readonly { group: string; version: string }[];
}

/** What the maps of a document are made of. */
export interface MapsV2Options extends Omit<DocumentV2Options, 'release'> {
  /** Types to be defined beside those that the routes name. */
  types?: readonly NamedType[];
  isCustomOnly?: boolean;
  /** Parameters of other parts of the document. */
  written?: WrittenParameters;
}

/** The OpenAPI v2 document of the whole server (kube-openapi/pkg/builder, with defaults pruned). */
export function* documentV2(routes: readonly Route[], { release, ...options }: DocumentV2Options): DocumentSteps {
  return envelopeV2(release, yield* mapsV2(routes, options)) as JsonObject;
}

export function* mapsV2(
  routes: readonly Route[],
  { descriptions, tellsEnums, knownGroupVersions, types = [], isCustomOnly, written }: MapsV2Options,
): SlicedWork<DocumentMaps> {
  const kindsOf = ({ name, kinds }: ObjectSchema): readonly GroupVersionKind[] =>
    COMMON_KIND.test(name) ? knownGroupVersions.map((known) => ({ ...known, kind: kinds[0]!.kind })) : kinds;
  const schemas = new SchemaCollection({ dialect: DIALECT, descriptions, tellsEnums, kindsOf, isCustomOnly });
  const shared = new SharedParameters(written);
  const write = (parameters: readonly Parameter[], body?: Route['body']): JsonObject[] => parametersV2(parameters, body, { schemas, shared, descriptions });
  const paths = yield* pathsOf(routes, {
    parameters: (parameters) => write(parameters),
    operation: (route, parameters) => operationV2(route, write(parameters, route.body), schemas),
  });
  for (const type of types) schemas.use(type);
  return { paths, definitions: yield* schemas.definitions(), parameters: shared.definitions(), outside: schemas.outside };
}

/** The document of these maps. */
export const envelopeV2 = <M>(release: string, { paths, definitions, parameters }: { paths: M; definitions: M; parameters: M }): Envelope<M> => ({
  swagger: '2.0',
  info: infoOf(release),
  paths,
  definitions,
  parameters,
  securityDefinitions: securityDefinition,
  security: [{ BearerToken: [] }],
});

/** The body is one more parameter, sorted among the others. */
function parametersV2(
  parameters: readonly Parameter[],
  body: Route['body'],
  { schemas, shared, descriptions }: { schemas: SchemaCollection; shared: SharedParameters; descriptions: Descriptions },
): JsonObject[] {
  const write = (parameter: Parameter): JsonObject => plainParameter(parameter, descriptions);
  const plain = parameters.map((parameter) => ({ name: parameter.name, json: shared.useWritten(parameter, write) }));
  if (!body) return plain.map(({ json }) => json);
  const bodyParameter = { name: 'body', in: 'body', ...(body.isRequired && { required: true }), schema: schemas.use(body.type) };
  return [...plain, { name: 'body', json: shared.use(bodyParameter) }].sort((a, b) => compareText(a.name, b.name)).map(({ json }) => json);
}

const plainParameter = (parameter: Parameter, descriptions: Descriptions): JsonObject => ({
  uniqueItems: true,
  type: parameter.type,
  ...descriptionOf(parameter, descriptions),
  name: parameter.name,
  in: parameter.in,
  ...(parameter.in === 'path' && { required: true }),
});

function operationV2(
  { tag, operationId, description, consumes, produces, responses, resource }: Route,
  parameters: readonly JsonObject[],
  schemas: SchemaCollection,
): JsonObject {
  const answers = [...responses].map(([code, type]): [string, JsonObject] => [String(code), { description: STATUS_PHRASES[code]!, schema: schemas.use(type) }]);
  return {
    description,
    ...(consumes.length > 0 && { consumes: [...consumes] }),
    produces: [...produces],
    schemes: ['https'],
    tags: [tag],
    operationId,
    ...(parameters.length > 0 && { parameters: [...parameters] }),
    responses: { ...Object.fromEntries(answers), 401: { description: STATUS_PHRASES[401]! } },
    ...(resource && { 'x-kubernetes-action': resource.action, 'x-kubernetes-group-version-kind': orderedKind(resource.kind) }),
  };
}

/** What other servers of the chain publish, upstream's aggregator decodes and encodes once more, which sorts the keys; not so its own group. */
function orderedKind({ group, kind, version }: GroupVersionKind): JsonObject {
  return group === 'apiregistration.k8s.io' ? { group, version, kind } : { group, kind, version };
}
