import { type ApiObject } from '../api/api-object.ts';
import { badRequest } from '../api/errors.ts';
import type { ServerRequest } from './request.ts';
import type { ResourceTarget } from './target.ts';

/** The namespace that the store is asked in; '' for cluster-scoped resources (a namespace's own path names itself) and for all namespaces. */
export const namespaceOf = ({ info }: ServerRequest, { store }: ResourceTarget): string => (store.definition.namespaced ? info.namespace : '');

/** The object's name, from the path and not from a field selector, which also fills `info.name`; '' for a collection. */
export const nameOf = ({ info }: ServerRequest): string => info.parts[1] ?? '';

/** An object belongs to the namespace of its request (registry/rest EnsureObjectNamespaceMatchesRequestNamespace). */
export function defaultNamespace({ metadata }: ApiObject, namespace: string): void {
  const given = metadata.namespace ?? '';
  if (given === namespace) return;
  if (given === '') metadata.namespace = namespace;
  else if (namespace === '') delete metadata.namespace;
  else throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** An update must be of the object that the path names. */
export function checkName({ metadata }: ApiObject, name: string): void {
  const given = metadata.name ?? '';
  if (given === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name) throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}
