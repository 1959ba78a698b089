import type { Client } from '../client/client.ts';
import type { Authorizer } from '../registry/authorizer.ts';
import { alwaysAllow } from './always-allow.ts';
import { alwaysDeny } from './always-deny.ts';
import { privilegedGroups } from './privileged-groups.ts';
import { type RbacAuthorizer, createRbacAuthorizer } from './rbac.ts';
import { unionOf } from './union.ts';

/** The modes of `--authorization-mode` that are served. `Node` is accepted and has no opinion yet. */
export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC';

export interface Authorization {
  authorizer: Authorizer;
  /** Kept in every mode: escalation checks ask it. */
  rbac: RbacAuthorizer;
}

/** system:masters first, then the modes in the order given. */
export function createAuthorization(modes: readonly AuthorizationMode[], client: Client): Authorization {
  const rbac = createRbacAuthorizer(client);
  const byMode: Record<AuthorizationMode, readonly Authorizer[]> = { AlwaysAllow: [alwaysAllow], AlwaysDeny: [alwaysDeny], Node: [], RBAC: [rbac] };
  return { authorizer: unionOf([privilegedGroups, ...modes.flatMap((mode) => byMode[mode])]), rbac };
}
