import packages from './facts/packages.json' with { type: 'json' };
import { schemaOf, schemaOfKind } from './facts/schemas.ts';
import { parseApiVersion } from '../api/api-object.ts';

/** The types that OpenAPI documents are made from. */
export const openApiTypes = { schemaOf, schemaOfKind };

/** Not the scheme's: discovery's own kinds, and those of meta/v1, are registered by themselves. */
const APART = /^(apidiscovery|meta)\.k8s\.io\//;
/** Read by upstream still, though their types are not among ours. */
const NO_TYPES = ['apiextensions.k8s.io/v1beta1', 'apiregistration.k8s.io/v1beta1'];

/** Every group-version of upstream's scheme, served or not, in order: each lists DeleteOptions and WatchEvent as its own. */
export const knownGroupVersions: readonly { group: string; version: string }[] = [...Object.keys(packages).filter((key) => !APART.test(key)), ...NO_TYPES]
  .map((key) => parseApiVersion(key)!)
  .toSorted((a, b) => (a.group < b.group || (a.group === b.group && a.version < b.version) ? -1 : 1));
