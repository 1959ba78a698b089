import type { ApiVersion, InstalledResource } from '../../registry/api-version.ts';
import { compareText } from './parameters.ts';
import { ResourceRoutes } from './resource-routes.ts';
import { META, type OpenApiTypes, type Route, indexRoute, rootPathOf } from './routes.ts';

/** What one OpenAPI v3 document is about. */
export interface Section {
  /** Without the leading slash: `apis/apps/v1`, `version`. */
  path: string;
  /** Absent for paths outside any group-version. */
  version?: ApiVersion;
  /** Whether all resources are custom ones. */
  isCustom?: boolean;
  /** Made anew at each call: they are needed only while a document is made. */
  routes(types: OpenApiTypes): Route[];
  /** The custom resources among what it is about; `routes` of a version with any is `builtInRoutes` and those of each. */
  custom?: readonly CustomPart[];
  builtInRoutes?(types: OpenApiTypes): Route[];
}

/** What one custom resource adds to documents. */
export interface CustomPart {
  /** The same as long as its definition is. */
  resource: InstalledResource;
  routes(types: OpenApiTypes): Route[];
}

const GET_VERSIONS = ['getAPIVersions', 'get available API versions'] as const;
const GET_GROUP = ['getAPIGroup', 'get information of a group'] as const;
const GET_RESOURCES = ['getAPIResources', 'get available resources'] as const;
const GET_RELEASE = ['getCodeVersion', 'get the version information for this server'] as const;
const GET_ISSUER = [
  'getServiceAccountIssuerOpenIDConfiguration',
  "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
] as const;
const GET_KEYS = [
  'getServiceAccountIssuerOpenIDKeyset',
  'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
] as const;

/** Paths that are there whatever is installed. */
const FIXED: readonly Section[] = [
  {
    path: '.well-known/openid-configuration',
    routes: () => [indexRoute('/.well-known/openid-configuration/', GET_ISSUER, { type: 'string' }, ['application/json'], [])],
  },
  { path: 'api', routes: ({ schemaOf }) => [indexRoute('/api/', GET_VERSIONS, schemaOf(`${META}.APIVersions`))] },
  { path: 'apis', routes: ({ schemaOf }) => [indexRoute('/apis/', GET_VERSIONS, schemaOf(`${META}.APIGroupList`))] },
  {
    path: 'openid/v1/jwks',
    routes: () => [indexRoute('/openid/v1/jwks/', GET_KEYS, { type: 'string' }, ['application/jwk-set+json'], [])],
  },
  {
    path: 'version',
    routes: ({ schemaOf }) => [indexRoute('/version/', GET_RELEASE, schemaOf('io.k8s.apimachinery.pkg.version.Info'), ['application/json'])],
  },
];

/** All documents' sections, by path. Groups of custom resources have none of their own, as upstream publishes only their versions. */
export function sectionsOf(installed: readonly ApiVersion[]): Section[] {
  const groups = new Set(installed.filter((version) => version.group !== '' && hasBuiltIn(version)).map(({ group }) => group));
  return [...FIXED, ...[...groups].map(groupSection), ...installed.map(versionSection)].toSorted((a, b) => compareText(a.path, b.path));
}

const hasBuiltIn = ({ resources }: ApiVersion): boolean => [...resources.values()].some(({ isCustom }) => !isCustom);

const groupSection = (group: string): Section => ({
  path: `apis/${group}`,
  routes: ({ schemaOf }) => [indexRoute(`/apis/${group}/`, GET_GROUP, schemaOf(`${META}.APIGroup`))],
});

function versionSection(version: ApiVersion): Section {
  const resources = [...version.resources.values()];
  const custom = resources.filter(({ isCustom }) => isCustom);
  const routesOf = (resource: InstalledResource, types: OpenApiTypes): Route[] => new ResourceRoutes(version, resource, types).all();
  const builtInRoutes = (types: OpenApiTypes): Route[] =>
    hasBuiltIn(version) ? [indexOf(version, types), ...resources.filter(({ isCustom }) => !isCustom).flatMap((resource) => routesOf(resource, types))] : [];
  return {
    path: rootPathOf(version.group, version.version).slice(1),
    version,
    isCustom: !hasBuiltIn(version),
    routes: (types) => [...builtInRoutes(types), ...custom.flatMap((resource) => routesOf(resource, types))],
    custom: custom.map((resource) => ({ resource, routes: (types) => routesOf(resource, types) })),
    builtInRoutes,
  };
}

/** Every group-version of built-in resources has one (apiserver/pkg/endpoints/installer.go). */
const indexOf = ({ group, version }: ApiVersion, types: OpenApiTypes): Route =>
  indexRoute(`${rootPathOf(group, version)}/`, GET_RESOURCES, types.schemaOf(`${META}.APIResourceList`));
