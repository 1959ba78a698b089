import { labelName, subdomainName } from './names.ts';

/** Who makes a request, as authentication found it. */
export interface User {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export const ALL_AUTHENTICATED = 'system:authenticated';
export const ALL_UNAUTHENTICATED = 'system:unauthenticated';
export const SYSTEM_PRIVILEGED_GROUP = 'system:masters';
export const ANONYMOUS: User = { name: 'system:anonymous', groups: [ALL_UNAUTHENTICATED] };

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';
const ALL_SERVICE_ACCOUNTS = 'system:serviceaccounts';

/** The namespace and name of a service account, from its user name; undefined where the name is not one. */
export function serviceAccountOf(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const [namespace = '', name = '', ...more] = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':');
  return more.length > 0 || labelName(namespace, false).length > 0 || subdomainName(name, false).length > 0 ? undefined : { namespace, name };
}

export const serviceAccountGroups = (namespace: string): string[] => [ALL_SERVICE_ACCOUNTS, `${ALL_SERVICE_ACCOUNTS}:${namespace}`];

const NODE_PREFIX = 'system:node:';
export const NODES_GROUP = 'system:nodes';

/** The name of a node, from its user name; undefined where the name is not one. */
export function nodeOf(userName: string): string | undefined {
  const name = userName.startsWith(NODE_PREFIX) ? userName.slice(NODE_PREFIX.length) : '';
  return name === '' || subdomainName(name, false).length > 0 ? undefined : name;
}
