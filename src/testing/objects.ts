import type { BuiltInKinds } from './built-in-kinds.ts';

export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMetadata;
  // Whatever the kind has besides: built-in kinds have types of their own.
  [field: string]: unknown;
}

export interface ObjectMetadata {
  name?: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  creationTimestamp?: string;
  deletionTimestamp?: string;
  [field: string]: unknown;
}

/** A kind: `{ apiVersion: 'apps/v1', kind: 'Deployment' }`. */
export interface KindReference<A extends string = string, K extends string = string> {
  apiVersion: A;
  kind: K;
}

/** One object. Of a kind with namespaces, and none given, it is the one in `default`. */
export interface ObjectReference<A extends string = string, K extends string = string> extends KindReference<A, K> {
  name: string;
  namespace?: string;
}

/** The objects of a kind. Without a namespace: those of all namespaces. */
export interface ListReference<A extends string = string, K extends string = string> extends KindReference<A, K> {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** The type of a built-in kind's objects; of any other kind, what all objects have. */
export type ObjectOf<A extends string, K extends string> = `${A}/${K}` extends keyof BuiltInKinds ? BuiltInKinds[`${A}/${K}`] : KubernetesObject;

/** An object with as many of its fields as one likes to give. */
export type Draft<T> = T extends readonly (infer Item)[] ? readonly Draft<Item>[] : T extends object ? { readonly [Field in keyof T]?: Draft<T[Field]> } : T;

/** A file, a folder (the files in it, not those in folders below), a glob (`config/**` + `/*.yaml`), an object, or several of these. */
export type ManifestSource = string | KubernetesObject | readonly (string | KubernetesObject)[];
