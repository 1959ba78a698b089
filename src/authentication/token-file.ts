import { readFileSync } from 'node:fs';
import { SecretTable } from '../util/secrets.ts';
import type { Authentication } from '../server/authenticator.ts';
import { parseCsv } from './csv.ts';
import type { TokenAuthenticator } from './token-authenticator.ts';

/**
 * `--token-auth-file`: lines of `token,user,uid,"group1,group2"`, the groups optional. Read once, at start.
 * Throws when the file cannot be read or a line is short; `warn` is called for each token that is empty or there twice.
 */
export function loadTokenFile(path: string, warn: (message: string) => void): TokenAuthenticator {
  const table = new SecretTable<Authentication>();
  let recordNumber = 0;
  for (const record of parseCsv(readFileSync(path, 'utf8'))) {
    if (record.length < 3) throw new Error(`token file '${path}' must have at least 3 columns (token, user name, user uid), found ${record.length}`);
    recordNumber++;
    const [token, name, uid, groups] = record as [string, string, string, string?];
    if (token === '') {
      warn(`empty token has been found in token file '${path}', record number '${recordNumber}'`);
      continue;
    }
    if (table.get(token)) warn(`duplicate token has been found in token file '${path}', record number '${recordNumber}'`);
    table.add(token, { user: { name, uid, groups: groups === undefined ? [] : groups.split(',') } });
  }
  return { authenticateToken: (token) => table.get(token) };
}
