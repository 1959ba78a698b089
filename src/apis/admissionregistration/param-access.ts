import type { AdmissionController, AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import { parseApiVersion } from '../../api/api-object.ts';
import { resourceAttributes } from '../../api/authorization.ts';
import { invalid } from '../../api/errors.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { formatGo } from '../../encoding/go-format.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { SYSTEM_PRIVILEGED_GROUP, type User } from '../../api/user.ts';
import type { ParamKind, ParamRef, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../facts/types/admissionregistration-v1.ts';

/** What is known of policies and kinds when someone writes a policy. */
export interface ParamLookup {
  /** The kind of parameters that a stored policy names; throws NotFound. `resource` is that of the policies. */
  paramKindOf(resource: string, policy: string): Promise<ParamKind | undefined>;
  /** The resource of a kind that is served; undefined where there is none. */
  resourceOf(group: string, version: string, kind: string): string | undefined;
}

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies']);
const BINDINGS: Record<string, string> = {
  validatingadmissionpolicybindings: 'validatingadmissionpolicies',
  mutatingadmissionpolicybindings: 'mutatingadmissionpolicies',
};
const WILDCARD = '*';

/**
 * Whoever writes a policy or a binding that reads parameters must be allowed to read them himself: what expressions make of them would reach him
 * (pkg/registry/admissionregistration, authz.go of each kind). To stand among the validating steps; it changes nothing.
 */
export function paramAccessCheck(authorizer: Authorizer, lookup: ParamLookup): AdmissionController {
  return {
    mutate() {},
    async validate(attributes) {
      if (attributes.group !== GROUP || attributes.subresource !== '' || attributes.object === undefined) return;
      if (attributes.user.groups.includes(SYSTEM_PRIVILEGED_GROUP)) return;
      if (POLICIES.has(attributes.resource)) await checkPolicy(authorizer, lookup, attributes);
      else if (Object.hasOwn(BINDINGS, attributes.resource)) await checkBinding(authorizer, lookup, attributes);
    },
  };
}

async function checkPolicy(authorizer: Authorizer, lookup: ParamLookup, attributes: AdmissionAttributes): Promise<void> {
  const { paramKind } = (attributes.object as ValidatingAdmissionPolicy).spec;
  const before = (attributes.oldObject as ValidatingAdmissionPolicy | undefined)?.spec.paramKind;
  if (!paramKind || (before && equalJson(paramKind, before))) return;
  const { user } = attributes;
  const isAllowed = await mayRead(authorizer, user, 'get', { name: WILDCARD, namespace: WILDCARD }, targetOf(lookup, paramKind));
  if (isAllowed) return;
  const kind = `(kind=${paramKind.kind ?? ''}, apiVersion=${paramKind.apiVersion ?? ''})`;
  refuse(attributes, 'paramKind', `user ${printedUser(user)} must have "get" permission on all objects of the referenced paramKind ${kind}`);
}

async function checkBinding(authorizer: Authorizer, lookup: ParamLookup, attributes: AdmissionAttributes): Promise<void> {
  const { paramRef, policyName = '' } = (attributes.object as ValidatingAdmissionPolicyBinding).spec;
  if (!paramRef) return;
  const { user } = attributes;
  const policy = await lookup.paramKindOf(BINDINGS[attributes.resource]!, policyName).then(
    (paramKind) => ({ paramKind }),
    () => undefined,
  );
  const target = targetOf(lookup, policy?.paramKind);
  const verb = paramRef.name ? 'get' : 'list';
  if (await mayRead(authorizer, user, verb, paramRef, target)) return;
  const everything = `to determine minimum required permissions and user ${printedUser(user)} does not have "${verb}" permission for all groups, versions and resources`;
  if (!policy) refuse(attributes, 'paramRef', `unable to get policy ${policyName} ${everything}`);
  const { paramKind } = policy!;
  if (paramKind && target.resource === WILDCARD)
    refuse(
      attributes,
      'paramRef',
      `unable to resolve paramKind &ParamKind{Kind:${paramKind.kind ?? ''},APIVersion:${paramKind.apiVersion ?? ''},} ${everything}`,
    );
  refuse(attributes, 'paramRef', `user ${printedUser(user)} does not have "${verb}" permission on the object referenced by paramRef`);
}

interface Target {
  apiGroup: string;
  apiVersion: string;
  resource: string;
}

/** All that there is, as far as it is not known what is meant. */
function targetOf(lookup: ParamLookup, paramKind: ParamKind | undefined): Target {
  const parsed = paramKind && parseApiVersion(paramKind.apiVersion ?? '');
  if (!parsed) return { apiGroup: WILDCARD, apiVersion: WILDCARD, resource: WILDCARD };
  const { group, version } = parsed;
  return { apiGroup: group, apiVersion: version, resource: lookup.resourceOf(group, version, paramKind.kind ?? '') ?? WILDCARD };
}

async function mayRead(
  authorizer: Authorizer,
  user: User,
  verb: string,
  { name = '', namespace = '' }: Pick<ParamRef, 'name' | 'namespace'>,
  target: Target,
): Promise<boolean> {
  const { decision } = await authorizer.authorize(resourceAttributes({ ...target, user, verb, namespace, name }));
  return decision === 'allow';
}

/** As Go prints the user. */
const printedUser = ({ name, uid = '', groups, extra = {} }: User): string => `&{${name} ${uid} ${formatGo(groups)} ${formatGo(extra)}}`;

function refuse({ group, kind, object, name }: AdmissionAttributes, field: string, why: string): never {
  const errors = new FieldErrors();
  errors.at('spec', field).forbidden(why);
  throw invalid({ group, kind: kind.kind }, object?.metadata.name ?? name, errors.list);
}
