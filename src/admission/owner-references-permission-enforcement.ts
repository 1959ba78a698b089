import type { Client } from '../client/client.ts';
import type { AdmissionAttributes } from '../registry/admission.ts';
import { type AuthorizationAttributes, type Decision, resourceAttributes } from '../api/authorization.ts';
import { type OwnerReference, parseApiVersion } from '../api/api-object.ts';
import { equalJson } from '../encoding/json-equal.ts';
import { type AdmissionPlugin, CREATE_OR_UPDATE, type PluginEnvironment } from './plugin.ts';
import { refusal } from './refusal.ts';

/**
 * Who names an owner may have the object deleted, and who blocks the owner's deletion may keep it: only those may who could anyway
 * (plugin/pkg/admission/gc).
 */
export function ownerReferencesPermissionEnforcement({ client, authorizer }: PluginEnvironment): AdmissionPlugin {
  const isAllowed = ({ decision }: Decision): boolean => decision === 'allow';

  async function check(attributes: AdmissionAttributes): Promise<void> {
    if (attributes.operation !== 'CREATE') {
      const decision = await authorizer.authorize(deletionOf(attributes));
      if (!isAllowed(decision)) throw refusal(attributes, `cannot set an ownerRef on a resource you can't delete: ${printed(decision)}`);
    }
    const blocking = newlyBlocking(attributes);
    if (blocking.length === 0 || isAllowed(await authorizer.authorize(finalizing(attributes, ANYTHING)))) return;
    for (const owner of blocking) {
      const decision = await authorizer.authorize(finalizing(attributes, ownerOf(client, attributes, owner)));
      if (isAllowed(decision)) continue;
      throw refusal(attributes, `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${printed(decision)}`);
    }
  }

  function validate(attributes: AdmissionAttributes): Promise<void> | void {
    const { group, resource, subresource, object, oldObject } = attributes;
    if (group === '' && resource === 'pods' && subresource === 'status') return;
    if (!equalJson(object?.metadata?.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) return check(attributes);
  }
  return { name: 'OwnerReferencesPermissionEnforcement', operations: CREATE_OR_UPDATE, validate };
}

/** As Go prints them: reason, then error. */
const printed = ({ reason, error }: Decision): string => `${reason}, ${error ?? '<nil>'}`;

type Subject = Pick<AuthorizationAttributes, 'apiGroup' | 'apiVersion' | 'resource' | 'namespace' | 'name'>;

const ANYTHING: Subject = { apiGroup: '*', apiVersion: '*', resource: '*', namespace: '', name: '*' };

const deletionOf = ({ user, group, version, resource, subresource, namespace, name }: AdmissionAttributes): AuthorizationAttributes =>
  resourceAttributes({ user, verb: 'delete', apiGroup: group, apiVersion: version, resource, subresource, namespace, name });

const finalizing = ({ user }: AdmissionAttributes, subject: Subject): AuthorizationAttributes =>
  resourceAttributes({ user, verb: 'update', subresource: 'finalizers', ...subject });

function ownerOf(client: Client, attributes: AdmissionAttributes, { apiVersion, kind, name }: OwnerReference): Subject {
  const found = client.resources().find((resource) => resource.kind === kind && resource.apiVersions.includes(apiVersion));
  const parsed = parseApiVersion(apiVersion);
  if (found && parsed)
    return { apiGroup: parsed.group, apiVersion: parsed.version, resource: found.plural, namespace: found.namespaced ? attributes.namespace : '', name };
  const why = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
  throw refusal(attributes, `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`);
}

function newlyBlocking({ object, oldObject }: AdmissionAttributes): OwnerReference[] {
  const wasBlocking = new Set(oldObject?.metadata.ownerReferences?.filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map(({ uid }) => uid));
  return (object!.metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion, uid }) => blockOwnerDeletion && !wasBlocking.has(uid));
}
