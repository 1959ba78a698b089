import type { JsonObject } from '../encoding/json-types.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: JsonObject[];
}

/** What every stored object has. The generated types of `src/apis/facts/` extend it kind by kind. */
export interface ApiObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
}

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

export interface GroupResource {
  group: string;
  resource: string;
}

/** `v1` for the core group, else `group/version`. */
export const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

/** The other way round; undefined where there is more than one slash. Nothing says that a group or version is not empty (schema.ParseGroupVersion). */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const slash = apiVersion.indexOf('/');
  if (slash !== apiVersion.lastIndexOf('/')) return undefined;
  return { group: slash === -1 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `deployments.apps`, or the bare resource for the core group: how upstream names a resource in messages. */
export const qualifiedResource = ({ group, resource }: GroupResource): string => (group === '' ? resource : `${resource}.${group}`);
