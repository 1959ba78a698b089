import { expect, test } from 'vitest';
import type { AuthorizationAttributes } from '../api/authorization.ts';
import { parseFieldSelector } from '../api/field-selector.ts';
import { conditionRequest } from './access-review.ts';
import { compileCondition } from './request-expressions.ts';

const resourceRequest: AuthorizationAttributes = {
  user: { name: 'alice', groups: ['devs'], extra: { scope: ['a'] } },
  verb: 'list',
  isResourceRequest: true,
  apiGroup: 'apps',
  apiVersion: 'v1',
  resource: 'deployments',
  subresource: '',
  namespace: 'kube-system',
  name: '',
  path: '',
  fieldSelector: parseFieldSelector('metadata.name=x'),
};
const pathRequest: AuthorizationAttributes = { ...resourceRequest, isResourceRequest: false, verb: 'get', path: '/metrics' };
const holds = (text: string, attributes: AuthorizationAttributes): boolean => compileCondition(text).holds(conditionRequest(attributes));

test.each([
  ['has(request.resourceAttributes)', true, false],
  ["has(request.resourceAttributes) && request.resourceAttributes.namespace == 'kube-system'", true, false],
  ["!('system:masters' in request.groups)", true, true],
  ["request.user == 'alice' && request.uid == ''", true, true],
  ["request.extra['scope'] == ['a']", true, true],
  ["has(request.nonResourceAttributes) && request.nonResourceAttributes.path.startsWith('/met')", false, true],
  [
    "request.?resourceAttributes.fieldSelector.requirements.orValue([]).exists(r, r.key == 'metadata.name' && r.operator == 'In' && r.values == ['x'])",
    true,
    false,
  ],
  ["request.?resourceAttributes.name.orValue('none') == ''", true, false],
])('%s', (text, forResource, forPath) => {
  expect([holds(text, resourceRequest), holds(text, pathRequest)]).toEqual([forResource, forPath]);
});

test('what has no value is an error', () => {
  expect(() => holds("request.resourceAttributes.verb == 'get'", pathRequest)).toThrow('no such key: resourceAttributes');
});

test.each([
  ['request.user', 'must evaluate to bool but got string'],
  ["request.users == ''", "undefined field 'users'"],
  ['request.user ==', 'compilation failed: ERROR: <input>:1:'],
])('%s is refused', (text, message) => {
  expect(() => compileCondition(text)).toThrow(message);
});
