import { hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { parseCsv } from './csv.ts';

/**
 * `--basic-auth-file`: lines of `password,user,uid,"group1,group2"`, the groups optional, as kube-apiserver took them until 1.19. Read once, at start.
 * Kept as digests under a key of this process, as tokens are. Throws when the file cannot be read or a line is short.
 */
export function loadBasicAuthFile(path: string): Authenticator {
  const key = randomBytes(32).toString('base64');
  const digestOf = (name: string, password: string): string => hash('sha256', key + JSON.stringify([name, password]), 'base64');
  const byDigest = new Map<string, Authentication>();
  for (const record of parseCsv(readFileSync(path, 'utf8'))) {
    if (record.length < 3) throw new Error(`password file '${path}' must have at least 3 columns (password, user name, user uid), found ${record.length}`);
    const [password, name, uid, groups] = record as [string, string, string, string?];
    byDigest.set(digestOf(name, password), { user: { name, uid, groups: groups ? groups.split(',') : [] } });
  }
  return {
    authenticate({ exchange }) {
      const given = credentialsIn(exchange.headers.authorization);
      if (given === undefined) return undefined;
      const found = byDigest.get(digestOf(given.name, given.password));
      if (found === undefined) throw new Error('invalid username/password combination');
      return found;
    },
  };
}

const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/** RFC 7617; undefined for what is nothing of the kind. */
function credentialsIn(header: string | undefined): { name: string; password: string } | undefined {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
