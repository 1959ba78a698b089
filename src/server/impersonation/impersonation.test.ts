import { describe, expect, it } from 'vitest';
import type { Authorizer } from '../../registry/authorizer.ts';
import type { AuthorizationAttributes } from '../../api/authorization.ts';
import type { User } from '../../api/user.ts';
import { readImpersonation } from './headers.ts';
import { type Impersonation, impersonatorOf } from './modes.ts';

const read = (headers: Record<string, string>): User | undefined =>
  readImpersonation({ headers, headerValues: (name) => (headers[name] === undefined ? [] : [headers[name]]) });

describe('the headers', () => {
  it('name a user, and are gone afterwards', () => {
    const headers = { 'impersonate-user': 'zoe', 'impersonate-group': 'g, with comma', 'impersonate-extra-acme.com%2fproject': 'p', accept: '*/*' };
    expect(read(headers)).toEqual({ name: 'zoe', groups: ['g, with comma'], extra: { 'acme.com/project': ['p'] } });
    expect(headers).toEqual({ accept: '*/*' });
  });
  it('are refused without a name, in words that clients know', () => {
    expect(() => read({ 'impersonate-group': 'g1' })).toThrow(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g1"}, Extra:map[string][]string(nil)} without impersonating a user name',
    );
  });
  it('are nothing where there are none', () => expect(read({ accept: '*/*' })).toBeUndefined());
});

/** Allows what is in the list, each as `verb resource name`. */
function allowing(...rights: string[]): Authorizer & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    authorize({ verb, resource, subresource, name }: AuthorizationAttributes) {
      const right = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`;
      asked.push(right);
      return { decision: rights.includes(right) ? 'allow' : 'noOpinion', reason: '' };
    },
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], isIncomplete: false }),
  };
}

const requestor: User = { name: 'alice', groups: [] };
const getPods = {
  user: requestor,
  verb: 'get',
  isResourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'n',
  name: 'p',
  path: '',
};

const impersonate = (authorizer: Authorizer, wanted: User, request: AuthorizationAttributes): Promise<Impersonation> =>
  impersonatorOf(authorizer)(wanted, request);

describe('the right to act as someone', () => {
  it('is the old one, for all that the user may do', async () => {
    const { user } = await impersonate(allowing('impersonate users zoe', 'impersonate groups g'), { name: 'zoe', groups: ['g'] }, getPods);
    expect(user).toEqual({ name: 'zoe', groups: ['g', 'system:authenticated'] });
  });
  it('is the constrained one, for one verb', async () => {
    const rights = allowing('impersonate-on:user-info:get pods p', 'impersonate:user-info users zoe');
    await expect(impersonate(rights, { name: 'zoe', groups: [] }, getPods)).resolves.toEqual({
      user: { name: 'zoe', groups: ['system:authenticated'] },
      constraint: 'impersonate:user-info',
    });
    await expect(impersonate(rights, { name: 'zoe', groups: [] }, { ...getPods, verb: 'delete' })).rejects.toThrow('impersonate-on:user-info:delete');
  });
  it('gives a service account its groups', async () => {
    const { user } = await impersonate(allowing('impersonate serviceaccounts sa'), { name: 'system:serviceaccount:ns:sa', groups: [] }, getPods);
    expect(user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated']);
  });
  it('needs every part of what is asked for', async () => {
    const rights = allowing('impersonate users zoe');
    await expect(impersonate(rights, { name: 'zoe', groups: ['system:masters'] }, getPods)).rejects.toMatchObject({ code: 403 });
    await expect(impersonate(rights, { name: 'zoe', groups: [], uid: 'u' }, getPods)).rejects.toMatchObject({ code: 403 });
    await expect(impersonate(rights, { name: 'zoe', groups: [], extra: { scopes: ['a'] } }, getPods)).rejects.toMatchObject({ code: 403 });
  });
  it('never reaches system:masters by a constrained right', async () => {
    const rights = allowing('impersonate-on:user-info:get pods p', 'impersonate:user-info users zoe', 'impersonate:user-info groups system:masters');
    await expect(impersonate(rights, { name: 'zoe', groups: ['system:masters'] }, getPods)).rejects.toThrow(
      'impersonating the system:masters group is not allowed',
    );
  });
  it('leaves the anonymous anonymous', async () => {
    const { user } = await impersonate(allowing('impersonate users system:anonymous'), { name: 'system:anonymous', groups: [] }, getPods);
    expect(user.groups).toEqual(['system:unauthenticated']);
  });
  it.each([
    [
      { scopes: ['a'] },
      'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [{ '': ['a'] }, 'impersonating the empty string key in extra is not allowed'],
    [{ 'a.com/Up': ['a'] }, 'impersonating a non-lowercase key in extra is not allowed: "a.com/Up"'],
    [{ 'a.com/x': [''] }, 'impersonating the empty string value in extra is not allowed'],
  ])('by a constrained mode refuses %j', async (extra, message) => {
    const rights = allowing('impersonate-on:user-info:get pods p', 'impersonate:user-info users zoe');
    await expect(impersonate(rights, { name: 'zoe', groups: [], extra }, getPods)).rejects.toThrow(message);
  });
  it('to many groups or details may be one right to all', async () => {
    const rights = allowing(
      'impersonate-on:user-info:get pods p',
      'impersonate:user-info users zoe',
      'impersonate:user-info groups *',
      'impersonate:user-info userextras/* *',
    );
    const wanted = { name: 'zoe', groups: ['a', 'b', 'c', 'd'], extra: { 'a.com/x': ['1', '2', '3', '4'] } };
    await expect(impersonate(rights, wanted, getPods)).resolves.toMatchObject({ constraint: 'impersonate:user-info' });
    await expect(impersonate(rights, { ...wanted, groups: ['a'] }, getPods)).rejects.toThrow('cannot impersonate:user-info resource "groups"');
  });
  it('is first looked for in the mode that served last', async () => {
    const rights = allowing(
      'impersonate users zoe',
      'impersonate users system:node:n1',
      'impersonate-on:arbitrary-node:get pods p',
      'impersonate:arbitrary-node nodes n1',
    );
    const impersonator = impersonatorOf(rights);
    const node = { name: 'system:node:n1', groups: [] };
    await expect(impersonator(node, getPods)).resolves.toMatchObject({ constraint: 'impersonate:arbitrary-node' });
    await expect(impersonator({ name: 'zoe', groups: [] }, getPods)).resolves.toMatchObject({ constraint: '' });
    await expect(impersonator(node, getPods)).resolves.toMatchObject({ constraint: '' });
  });
  it("to the node of one's own pod names neither the node nor the pod", async () => {
    const asked: AuthorizationAttributes[] = [];
    const authorizer: Authorizer = { ...allowing(), authorize: (attributes) => (asked.push(attributes), { decision: 'allow', reason: '' }) };
    const extra = { 'authentication.kubernetes.io/node-name': ['n1'], 'authentication.kubernetes.io/pod-name': ['p'] };
    const user = { name: 'system:serviceaccount:ns:sa', groups: [], extra };
    await expect(impersonate(authorizer, { name: 'system:node:n1', groups: [] }, { ...getPods, user })).resolves.toMatchObject({
      constraint: 'impersonate:associated-node',
    });
    expect(asked.map(({ name }) => name)).toEqual(['p', '*']);
    for (const attributes of asked) expect(attributes.user.extra).toEqual({ 'authentication.kubernetes.io/associated-node-keys': Object.keys(extra) });
  });
});
