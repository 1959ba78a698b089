import type { Client } from '../client/client.ts';
import type { Authentication } from '../server/authenticator.ts';
import type { ApiObject } from '../api/api-object.ts';
import { isSameSecret } from '../util/secrets.ts';
import { parseTime } from '../util/time.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

const NAMESPACE = 'kube-system';
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';
const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const DEFAULT_GROUP = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

interface Secret extends ApiObject {
  type?: string;
  data?: Record<string, string>;
}

/**
 * Tokens with which a machine joins the cluster, `id.secret`, from secrets bootstrap-token-<id> in kube-system
 * (plugin/pkg/auth/authenticator/token/bootstrap). One that is wrong in any way is nobody's: why is not told.
 */
export function bootstrapTokens(client: Client, now: () => Date): TokenAuthenticator {
  return {
    authenticateToken(token) {
      const [, id, secretText] = TOKEN.exec(token) ?? [];
      if (id === undefined || secretText === undefined) return undefined;
      const secret = client.resource<Secret>('', 'secrets').informer.get(NAMESPACE, `bootstrap-token-${id}`);
      return secret && userOf(secret, id, secretText, now());
    },
  };
}

function userOf(secret: Secret, id: string, secretText: string, now: Date): Authentication | undefined {
  const valueOf = (key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  if (secret.metadata.deletionTimestamp || secret.type !== SECRET_TYPE) return undefined;
  if (!isSameSecret(Buffer.from(valueOf('token-secret')), secretText) || valueOf('token-id') !== id) return undefined;
  if (hasExpired(valueOf('expiration'), now) || valueOf('usage-bootstrap-authentication') !== 'true') return undefined;
  const extra = valueOf('auth-extra-groups');
  const groups = extra === '' ? [] : extra.split(',');
  if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined;
  return { user: { name: `system:bootstrap:${id}`, groups: [...new Set([DEFAULT_GROUP, ...groups])].toSorted() } };
}

/** A time that cannot be read has passed. */
function hasExpired(expiration: string, now: Date): boolean {
  if (expiration === '') return false;
  try {
    return parseTime(expiration).seconds * 1000 <= now.getTime();
  } catch {
    return true;
  }
}
