import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../registry/admission.ts';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { AuthorizationAttributes } from '../../api/authorization.ts';
import { notFound } from '../../api/errors.ts';
import { paramAccessCheck } from './param-access.ts';

const asked: string[] = [];
const authorizer = (isAllowed: boolean): Authorizer => ({
  authorize({ verb, apiGroup, resource, namespace, name }: AuthorizationAttributes) {
    asked.push(`${verb} ${resource}.${apiGroup} ${namespace}/${name}`);
    return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' };
  },
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
});
const lookup = {
  paramKindOf: async (_resource: string, policy: string) => {
    if (policy === 'none') throw notFound({ group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }, policy);
    return { apiVersion: 'v1', kind: 'ConfigMap' };
  },
  resourceOf: (_group: string, _version: string, kind: string) => (kind === 'ConfigMap' ? 'configmaps' : undefined),
};

const write = (resource: string, spec: object, groups: string[] = [], oldSpec?: object): AdmissionAttributes =>
  ({
    operation: oldSpec ? 'UPDATE' : 'CREATE',
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource,
    subresource: '',
    kind: { group: 'admissionregistration.k8s.io', version: 'v1', kind: 'K' },
    namespace: '',
    name: 'x',
    object: { metadata: { name: 'x' }, spec },
    oldObject: oldSpec && { metadata: { name: 'x' }, spec: oldSpec },
    user: { name: 'alice', uid: 'u', groups },
  }) as unknown as AdmissionAttributes;

test.each([
  [
    write('validatingadmissionpolicies', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, ['devs']),
    'get configmaps. */*',
    'user &{alice u [devs] map[]} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)',
  ],
  [
    write('validatingadmissionpolicybindings', { policyName: 'p', paramRef: { selector: {}, namespace: 'ns' } }),
    'list configmaps. ns/',
    'user &{alice u [] map[]} does not have "list" permission on the object referenced by paramRef',
  ],
  [
    write('mutatingadmissionpolicybindings', { policyName: 'none', paramRef: { name: 'n' } }),
    'get *.* /n',
    'unable to get policy none to determine minimum required permissions and user &{alice u [] map[]} does not have "get" permission for all groups, versions and resources',
  ],
])('%#', async (attributes, question, why) => {
  asked.length = 0;
  await expect(paramAccessCheck(authorizer(false), lookup).validate(attributes)).rejects.toThrow(why);
  expect(asked).toEqual([question]);
  await expect(paramAccessCheck(authorizer(true), lookup).validate(attributes)).resolves.toBeUndefined();
});

test('nothing is asked where nothing is read, nothing changed, or all is allowed', async () => {
  asked.length = 0;
  const check = paramAccessCheck(authorizer(false), lookup);
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  await check.validate(write('validatingadmissionpolicies', {}));
  await check.validate(write('validatingadmissionpolicies', { paramKind }, [], { paramKind }));
  await check.validate(write('validatingadmissionpolicies', { paramKind }, ['system:masters']));
  expect(asked).toEqual([]);
});
