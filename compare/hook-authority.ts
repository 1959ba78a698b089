import { createAuthority } from '../src/serving/certificates/create.ts';

/** Signs what the webhooks serve with; its certificate is what configurations trust. */
export const authority = createAuthority({ commonName: 'compare-hooks' });
export const HOOK_CA = Buffer.from(authority.certPem).toString('base64');
