import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { ANONYMOUS } from '../api/user.ts';

const SOMEBODY: Authentication = { user: ANONYMOUS };

/** Requests that carry no credentials are system:anonymous: all of them, or only those for `paths` where there are any. */
export function anonymous(paths: readonly string[] = []): Authenticator {
  if (paths.length === 0) return { authenticate: () => SOMEBODY };
  const allowed = new Set(paths);
  return { authenticate: ({ info }) => (allowed.has(info.path) ? SOMEBODY : undefined) };
}
