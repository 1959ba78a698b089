import type { AuthorizationAttributes, Decision } from '../../api/authorization.ts';
import { SelectorSyntaxError, parseLabelSelector } from '../../api/label-selector.ts';
import { parseFieldSelector } from '../../api/field-selector.ts';
import { labelName, subdomainName } from '../../api/names.ts';
import { serviceAccountGroups, type User } from '../../api/user.ts';
import { fn, member, type Library } from '../declarations.ts';
import { BOOL, STRING, structType, type CelType } from '../types.ts';
import { CelError, CelObject, noSuchOverload, type CelValue } from '../values.ts';

/** Questions of what a user may do, asked from expressions (apiserver/pkg/cel/library/authz.go). */
export const AUTHORIZER = structType('kubernetes.authorization.Authorizer');
const PATH_CHECK = structType('kubernetes.authorization.PathCheck');
const GROUP_CHECK = structType('kubernetes.authorization.GroupCheck');
export const RESOURCE_CHECK = structType('kubernetes.authorization.ResourceCheck');
const DECISION = structType('kubernetes.authorization.Decision');

/** Answers at once: expressions cannot wait. */
export type Authorize = (attributes: AuthorizationAttributes) => Decision;

/** Values that only functions can look into. They equal nothing else, as upstream has it. */
class OpaqueValue<T> extends CelObject {
  readonly type: CelType;
  readonly content: T;

  constructor(type: CelType, content: T) {
    super();
    this.type = type;
    this.content = content;
  }

  override equals(other: CelValue): boolean | CelError {
    return this === other || noSuchOverload();
  }

  toString(): string {
    return this.type.name;
  }
}

/** The variable `authorizer`: a user whose rights are asked for. */
export class AuthorizerValue extends OpaqueValue<{ user: User; authorize: Authorize }> {
  constructor(user: User, authorize: Authorize) {
    super(AUTHORIZER, { user, authorize });
  }

  /** The variable `authorizer.requestResource`: a check of what a request is about. */
  resource(target: Partial<CheckedResource>): CelValue {
    return resourceCheck(this, { ...NO_TARGET, ...target });
  }

  decide(asked: Omit<AuthorizationAttributes, 'user'>): DecisionValue {
    const { user, authorize } = this.content;
    return new OpaqueValue(DECISION, authorize({ ...asked, user }));
  }
}

export interface CheckedResource {
  apiGroup: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  fieldSelector: string;
  labelSelector: string;
}

const NO_TARGET: CheckedResource = { apiGroup: '', resource: '', subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };

type PathCheck = OpaqueValue<{ authorizer: AuthorizerValue; path: string }>;
type GroupCheck = OpaqueValue<{ authorizer: AuthorizerValue; group: string }>;
type ResourceCheck = OpaqueValue<{ authorizer: AuthorizerValue; target: CheckedResource }>;
type DecisionValue = OpaqueValue<Decision>;

const resourceCheck = (authorizer: AuthorizerValue, target: CheckedResource): ResourceCheck => new OpaqueValue(RESOURCE_CHECK, { authorizer, target });

const NO_RESOURCE = { isResourceRequest: false, apiGroup: '', apiVersion: '', resource: '', subresource: '', namespace: '', name: '', path: '' };

const checkPath = ({ content: { authorizer, path } }: PathCheck, verb: string): DecisionValue => authorizer.decide({ ...NO_RESOURCE, verb, path });

function checkResource({ content: { authorizer, target } }: ResourceCheck, verb: string): DecisionValue {
  const { fieldSelector: fieldText, labelSelector: labelText, ...resource } = target;
  const fieldSelector = parsed(() => parseFieldSelector(fieldText), fieldText);
  const labelSelector = parsed(() => parseLabelSelector(labelText), labelText);
  const attributes = { ...NO_RESOURCE, ...resource, verb, isResourceRequest: true, apiVersion: '*' };
  return authorizer.decide({ ...attributes, ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) });
}

/** Selectors that do not parse select nothing, so that the question is about everything. */
function parsed<S>(parse: () => S, text: string): S | undefined {
  if (text === '') return undefined;
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorSyntaxError) return undefined;
    throw error;
  }
}

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): CelValue {
  if (subdomainName(name, false).length > 0) return new CelError('Invalid service account name');
  if (labelName(namespace, false).length > 0) return new CelError('Invalid service account namespace');
  return new AuthorizerValue({ name: `system:serviceaccount:${namespace}:${name}`, groups: serviceAccountGroups(namespace) }, authorizer.content.authorize);
}

function notBlank(text: string, name: string, make: () => CelValue): CelValue {
  return text.trim() === '' ? new CelError(`${name} must not be empty`) : make();
}

const narrowing = (name: string, id: string, key: keyof CheckedResource): ReturnType<typeof fn> =>
  fn(
    name,
    member(id, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, ({ content: { authorizer, target } }: ResourceCheck, text: string) =>
      resourceCheck(authorizer, { ...target, [key]: text }),
    ),
  );

const answer = (name: string, result: CelType, read: (decision: Decision) => CelValue): ReturnType<typeof fn> =>
  fn(
    name,
    member(`decision_${name}`, [DECISION], result, ({ content }: DecisionValue) => read(content)),
  );

export const AUTHORIZER_LIBRARY: Library = {
  functions: [
    fn(
      'path',
      member('authorizer_path', [AUTHORIZER, STRING], PATH_CHECK, (authorizer: AuthorizerValue, path: string) =>
        notBlank(path, 'path', () => new OpaqueValue(PATH_CHECK, { authorizer, path })),
      ),
    ),
    fn(
      'group',
      member(
        'authorizer_group',
        [AUTHORIZER, STRING],
        GROUP_CHECK,
        (authorizer: AuthorizerValue, group: string) => new OpaqueValue(GROUP_CHECK, { authorizer, group }),
      ),
    ),
    fn('serviceAccount', member('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount)),
    fn(
      'resource',
      member('groupcheck_resource', [GROUP_CHECK, STRING], RESOURCE_CHECK, ({ content: { authorizer, group } }: GroupCheck, resource: string) =>
        notBlank(resource, 'resource', () => authorizer.resource({ apiGroup: group, resource })),
      ),
    ),
    narrowing('subresource', 'resourcecheck_subresource', 'subresource'),
    narrowing('namespace', 'resourcecheck_namespace', 'namespace'),
    narrowing('name', 'resourcecheck_name', 'name'),
    narrowing('fieldSelector', 'authorizer_fieldselector', 'fieldSelector'),
    narrowing('labelSelector', 'authorizer_labelselector', 'labelSelector'),
    fn(
      'check',
      member('pathcheck_check', [PATH_CHECK, STRING], DECISION, checkPath),
      member('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, checkResource),
    ),
    answer('errored', BOOL, ({ error }) => error !== undefined),
    answer('error', STRING, ({ error }) => error ?? ''),
    answer('allowed', BOOL, ({ decision }) => decision === 'allow'),
    answer('reason', STRING, ({ reason }) => reason),
  ],
};
