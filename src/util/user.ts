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
