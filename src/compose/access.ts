import { type OpenAuthentication, openAuthentication } from './authentication.ts';
import { type OpenAuthorizers, openAuthorizers } from './authorization.ts';
import type { Foundation } from './foundation.ts';
import { type TokenSigning, openTokenSigning } from './token-signing.ts';

/** Who is let in, as far as flags and files say it: what roles and tokens are stored is not known before the stores are open. */
export interface AccessFiles extends TokenSigning {
  authentication: OpenAuthentication;
  authorizers: OpenAuthorizers;
  /** Whether RBAC is among the authorizers: without it nobody needs its policy. */
  isRbacOn: boolean;
}

/** Reads the keys of tokens and the files of authentication and authorization. Throws CommandError. */
export async function openAccess(foundation: Foundation): Promise<AccessFiles> {
  const { options, logger, registry, egress, closers } = foundation;
  const signing = await openTokenSigning(foundation);
  const authentication = await openAuthentication(options, { ...foundation, publicKeys: signing.publicKeys });
  closers.add(() => authentication.close());
  const authorizers = await openAuthorizers(options, logger, registry, egress?.controlplane);
  closers.add(() => authorizers.close());
  return {
    ...signing,
    authentication,
    authorizers,
    isRbacOn: authorizers.prepared.chain.some(({ type }) => type === 'RBAC'),
  };
}
