import type { ParamKind, ParamRef } from '../../apis/facts/types/admissionregistration-v1.ts';
import { parsedSelector } from '../../apis/validation/label-selector.ts';
import type { Client, Informer, ResourceIdentity } from '../../client/client.ts';
import { type ApiObject, parseApiVersion } from '../../api/api-object.ts';
import { Pending } from '../../util/pending.ts';

/** A policy or binding that cannot be put to work; what comes of it is for the failure policy to say. */
export class ConfigurationError extends Error {}

const complete = new WeakSet<Informer>();

/** The resource of a policy's parameters; undefined where it has none. Throws ConfigurationError. */
export function paramResource(client: Client, paramKind: ParamKind | undefined): ResourceIdentity | undefined {
  if (!paramKind) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const found = client.resources().find((identity) => identity.kind === kind && identity.apiVersions.includes(apiVersion));
  if (found) return found;
  const parsed = parseApiVersion(apiVersion);
  if (!parsed) throw new ConfigurationError(`failed to parse paramKind APIVersion: unexpected GroupVersion string: ${apiVersion}`);
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${parsed.group}/${parsed.version}, Kind=${kind}'`);
}

/**
 * The parameters that a policy is to be evaluated with, once with each; one undefined where it has none. Throws ConfigurationError, and Pending where
 * they are still being read (policy/generic CollectParams).
 */
export function paramsFor(
  client: Client,
  resource: ResourceIdentity | undefined,
  paramRef: ParamRef | undefined,
  namespace: string,
): readonly (ApiObject | undefined)[] {
  if (!resource || !paramRef) return [undefined];
  const params = selectedParams(client, resource, paramRef, namespaceOf(resource, paramRef, namespace));
  if (params.length === 0 && paramRef.parameterNotFoundAction === 'Deny')
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  return params;
}

function namespaceOf({ namespaced }: ResourceIdentity, paramRef: ParamRef, namespace: string): string {
  const named = paramRef.namespace ?? '';
  if (!namespaced && named !== '') throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  if (namespaced && named === '' && namespace === '')
    throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return namespaced ? named || namespace : '';
}

function selectedParams(client: Client, { group, plural }: ResourceIdentity, { name = '', selector }: ParamRef, namespace: string): readonly ApiObject[] {
  const { informer } = client.resource(group, plural);
  if (!complete.has(informer)) throw new Pending(informer.synced.then(() => complete.add(informer)));
  if (name !== '') return [informer.get(namespace, name)].filter((param) => param !== undefined);
  if (!selector) throw new ConfigurationError('one of name or selector must be provided');
  const labels = parsedSelector(selector);
  return informer.list(namespace).filter(({ metadata }) => labels?.matches(metadata.labels));
}
