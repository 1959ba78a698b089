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
  /** Those of no resource: where it is told what there is. Made anew at each call, as all routes are: they are needed only while a document is made. */
  indexRoutes(types: OpenApiTypes): Route[];
  resources: readonly ResourceSection[];
}

/** What one resource adds to documents. */
export interface ResourceSection {
  /** Of a custom one the same as long as its definition is. */
  resource: InstalledResource;
  routes(types: OpenApiTypes): Route[];
}

export const routesOf = ({ indexRoutes, resources }: Section, types: OpenApiTypes): Route[] => [
  ...indexRoutes(types),
  ...resources.flatMap(({ routes }) => routes(types)),
];

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
    resources: [],
    indexRoutes: () => [indexRoute('/.well-known/openid-configuration/', GET_ISSUER, { type: 'string' }, ['application/json'], [])],
  },
  { path: 'api', resources: [], indexRoutes: ({ schemaOf }) => [indexRoute('/api/', GET_VERSIONS, schemaOf(`${META}.APIVersions`))] },
  { path: 'apis', resources: [], indexRoutes: ({ schemaOf }) => [indexRoute('/apis/', GET_VERSIONS, schemaOf(`${META}.APIGroupList`))] },
  {
    path: 'openid/v1/jwks',
    resources: [],
    indexRoutes: () => [indexRoute('/openid/v1/jwks/', GET_KEYS, { type: 'string' }, ['application/jwk-set+json'], [])],
  },
  {
    path: 'version',
    resources: [],
    indexRoutes: ({ schemaOf }) => [indexRoute('/version/', GET_RELEASE, schemaOf('io.k8s.apimachinery.pkg.version.Info'), ['application/json'])],
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
  resources: [],
  indexRoutes: ({ schemaOf }) => [indexRoute(`/apis/${group}/`, GET_GROUP, schemaOf(`${META}.APIGroup`))],
});

const versionSection = (version: ApiVersion): Section => ({
  path: rootPathOf(version.group, version.version).slice(1),
  version,
  isCustom: !hasBuiltIn(version),
  indexRoutes: (types) => (hasBuiltIn(version) ? [indexOf(version, types)] : []),
  resources: [...version.resources.values()].map((resource) => ({ resource, routes: (types) => new ResourceRoutes(version, resource, types).all() })),
});

/** Every group-version of built-in resources has one (apiserver/pkg/endpoints/installer.go). */
const indexOf = ({ group, version }: ApiVersion, types: OpenApiTypes): Route =>
  indexRoute(`${rootPathOf(group, version)}/`, GET_RESOURCES, types.schemaOf(`${META}.APIResourceList`));
