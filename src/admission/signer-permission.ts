import type { Authorizer } from '../registry/authorizer.ts';
import type { User } from '../api/user.ts';

/** Whether someone may do `verb` for a signer, by its whole name or for its domain's signers all (pkg/certauthorization). */
export async function maySignAs(authorizer: Authorizer, user: User, verb: 'approve' | 'sign' | 'attest', signerName: string): Promise<boolean> {
  for (const name of [signerName, `${signerName.split('/', 1)[0]}/*`]) {
    const attributes = {
      user,
      verb,
      name,
      isResourceRequest: true,
      apiGroup: 'certificates.k8s.io',
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      namespace: '',
      path: '',
    };
    if ((await authorizer.authorize(attributes)).decision === 'allow') return true;
  }
  return false;
}
