import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '../api/api-object.ts';
import type { ResourceDefinition, ServedVersion, Subresource } from './definition.ts';
import type { ResourceStore } from './store.ts';

/** A group-version as a server has it installed: what requests, discovery and OpenAPI are answered from. */
export interface ApiVersion {
  group: string;
  version: string;
  /** Of the group among groups, and of the version within it; higher comes first. They are also the spec of its APIService. */
  groupPriorityMinimum: number;
  versionPriority: number;
  /** By plural name. */
  resources: ReadonlyMap<string, InstalledResource>;
}

export interface InstalledResource {
  definition: ResourceDefinition;
  served: ServedVersion;
  store: ResourceStore;
  subresources: Readonly<Record<string, Subresource>>;
  /** Shown in discovery, so that migrators see a change of storage version. */
  storageVersionHash: string;
  isCustom: boolean;
}

/** kubernetes: apiserver/pkg/endpoints/discovery StorageVersionHash */
export const storageVersionHashOf = ({ group, version, kind }: GroupVersionKind): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
