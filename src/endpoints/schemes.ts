import type { ObjectSchema } from '../schema/schema.ts';
import type { GroupVersionKind } from '../api/api-object.ts';
import { quote } from '../util/go-quote.ts';
import type { ResourceTarget } from './target.ts';

const LEGACY_SCHEME = 'pkg/api/legacyscheme/scheme.go:30';
/** Upstream's two other servers know their own kinds and nobody else's. */
const OWN_SCHEMES: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
};
/** `DeleteOptions`, `Status`, …: those that every server knows. */
const META_TYPES = 'io.k8s.apimachinery.pkg.apis.meta.';

/** The Go scheme of the server that serves a group, as errors name it, in quotes. */
export const schemeOf = (group: string): string => quote(OWN_SCHEMES[group] ?? LEGACY_SCHEME);

/** That of the scales of custom resources. */
export const SCALE_SCHEME = '"k8s.io/client-go/scale/util.go:146"';

/** The type of a kind that it knows: scales as they were and are, and what every server knows. */
export function registeredWithScales({ group, version, kind }: GroupVersionKind, { schemaOfKind }: ResourceTarget['environment']): ObjectSchema | undefined {
  if (UNVERSIONED.has(kind)) return schemaOfKind('', 'v1', kind);
  if (!SCALE_VERSIONS.has(`${group}/${version}`)) return undefined;
  const schema = schemaOfKind(group, version, kind);
  return schema !== undefined && (kind === 'Scale' || schema.name.startsWith(META_TYPES)) ? schema : undefined;
}

/** Kinds that are the same in whatever version they say that they are. */
const UNVERSIONED: ReadonlySet<string> = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList']);

/** The group-versions that are registered there. */
const SCALE_VERSIONS: ReadonlySet<string> = new Set(['autoscaling/v1', 'extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2']);

/** The type of a kind that the server of group `own` knows, whether it serves it or not; undefined where it does not. */
export function registeredSchema(
  { group, version, kind }: GroupVersionKind,
  own: string,
  { schemaOfKind }: ResourceTarget['environment'],
): ObjectSchema | undefined {
  const schema = schemaOfKind(group, version, kind);
  return schema !== undefined && (schemeOf(group) === schemeOf(own) || schema.name.startsWith(META_TYPES)) ? schema : undefined;
}
