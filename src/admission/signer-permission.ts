import { resourceAttributes } from '../api/authorization.ts';
import type { User } from '../api/user.ts';
import type { Authorizer } from '../registry/authorizer.ts';

/** Whether someone may do `verb` for a signer, by its whole name or for its domain's signers all (pkg/certauthorization). */
export async function maySignAs(authorizer: Authorizer, user: User, verb: 'approve' | 'sign' | 'attest', signerName: string): Promise<boolean> {
  for (const name of [signerName, `${signerName.split('/', 1)[0]}/*`]) {
    const { decision } = await authorizer.authorize(resourceAttributes({ user, verb, apiGroup: 'certificates.k8s.io', resource: 'signers', name }));
    if (decision === 'allow') return true;
  }
  return false;
}
