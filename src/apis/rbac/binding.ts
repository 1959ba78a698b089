import { changeEach } from '../../util/pending.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { subdomainName } from '../../api/names.ts';
import type { Strategy } from '../define.ts';
import type { RoleRef, Subject } from '../facts/types/rbac-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { rbacNameErrors } from './policy-rule.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const SERVICE_ACCOUNT = 'ServiceAccount';
const USER = 'User';
const GROUP = 'Group';
const ROLE_REF: InternalFields = [
  ['APIGroup', 'apiGroup', ''],
  ['Kind', 'kind', ''],
  ['Name', 'name', ''],
];

interface Binding extends ApiObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/** All of a binding but its name: `roleKinds` are the kinds of roles that it may give, `isNamespaced` whether it gives them in a namespace. */
export const bindingStrategy = <T extends Binding>(roleKinds: readonly string[], isNamespaced: boolean): Strategy<T> => ({
  naming: { errors: rbacNameErrors },
  createsOnUpdate: true,

  default({ roleRef, subjects }, { turns }) {
    roleRef.apiGroup ||= RBAC_GROUP;
    changeEach(turns, 'subjects', subjects, (subject) => {
      if (subject.kind === USER || subject.kind === GROUP) subject.apiGroup ||= RBAC_GROUP;
    });
  },

  validatesWhole: 'before',
  validate({ object: { metadata, roleRef, subjects } }, errors) {
    validateFinalizerNames(metadata, errors);
    validateRoleRef(roleRef, roleKinds, errors.at('roleRef'));
    for (const [index, subject] of (subjects ?? []).entries()) validateSubject(subject, isNamespaced, errors.at('subjects').index(index));
  },
  validateUpdate({ object: { metadata, roleRef }, old }, errors) {
    validateFinalizerNames(metadata, errors);
    if (!equalJson(roleRef, old.roleRef)) errors.at('roleRef').invalid(internalForm(roleRef, ROLE_REF), 'cannot change roleRef');
  },

  cells: {
    Role: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
    Users: ({ subjects }) => namesOf(subjects, USER),
    Groups: ({ subjects }) => namesOf(subjects, GROUP),
    ServiceAccounts: ({ subjects }) => namesOf(subjects, SERVICE_ACCOUNT),
  },
});

function validateRoleRef({ apiGroup, kind, name }: RoleRef, kinds: readonly string[], errors: FieldErrors): void {
  if (apiGroup !== RBAC_GROUP) errors.at('apiGroup').notSupportedString(apiGroup, [RBAC_GROUP]);
  if (!kinds.includes(kind)) errors.at('kind').notSupportedString(kind, kinds);
  if (name === '') errors.at('name').required();
  else for (const error of rbacNameErrors(name)) errors.at('name').invalid(name, error);
}

function validateSubject({ kind, name, apiGroup = '', namespace = '' }: Subject, isNamespaced: boolean, errors: FieldErrors): void {
  if (name === '') errors.at('name').required();
  switch (kind) {
    case SERVICE_ACCOUNT:
      if (name !== '') for (const error of subdomainName(name, false)) errors.at('name').invalid(name, error);
      if (apiGroup !== '') errors.at('apiGroup').notSupportedString(apiGroup, ['']);
      if (!isNamespaced && namespace === '') errors.at('namespace').required();
      return;
    case USER:
    case GROUP:
      if (apiGroup !== RBAC_GROUP) errors.at('apiGroup').notSupportedString(apiGroup, [RBAC_GROUP]);
      return;
    default:
      errors.at('kind').notSupportedString(kind, [SERVICE_ACCOUNT, USER, GROUP]);
  }
}

const namesOf = (subjects: readonly Subject[] | undefined, kind: string): string =>
  (subjects ?? [])
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace = '' }) => (kind === SERVICE_ACCOUNT ? `${namespace}/${name}` : name))
    .join(', ');
