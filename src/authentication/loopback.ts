import { randomBytes, randomUUID } from 'node:crypto';
import { SYSTEM_PRIVILEGED_GROUP } from '../api/user.ts';
import { TokenTable } from './token-table.ts';

/** The server's own identity when it calls itself over the wire. The token is made anew by every process and never leaves it. */
export function createLoopbackIdentity(): { token: string; tokens: TokenTable } {
  const token = randomBytes(32).toString('base64url');
  const tokens = new TokenTable();
  tokens.add(token, { name: 'system:apiserver', uid: randomUUID(), groups: [SYSTEM_PRIVILEGED_GROUP] });
  return { token, tokens };
}
