import type { FieldSelector } from './field-selector.ts';
import type { LabelSelector } from './label-selector.ts';
import type { User } from './user.ts';

/* A question of what someone may do, and its answer: authorizers give it, filters and expressions ask. */

/** What someone wants to do. For non-resource requests only user, verb and path count. */
export interface AuthorizationAttributes {
  user: User;
  verb: string;
  isResourceRequest: boolean;
  apiGroup: string;
  apiVersion: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  path: string;
  fieldSelector?: FieldSelector | undefined;
  labelSelector?: LabelSelector | undefined;
}

type AskedResource = Partial<AuthorizationAttributes> & Pick<AuthorizationAttributes, 'user' | 'verb' | 'apiGroup' | 'resource'>;

/** A question about a resource: in any version, and about no name, namespace or subresource, unless it says otherwise. */
export const resourceAttributes = (asked: AskedResource): AuthorizationAttributes => ({
  isResourceRequest: true,
  apiVersion: '*',
  subresource: '',
  namespace: '',
  name: '',
  path: '',
  ...asked,
});

/** `noOpinion` leaves the answer to the next authorizer; from the last one it means no. `reason` is shown to the client. */
export interface Decision {
  decision: 'allow' | 'deny' | 'noOpinion';
  reason: string;
  /** A failure that left the decision without an opinion; shown in access reviews. */
  error?: string;
}
