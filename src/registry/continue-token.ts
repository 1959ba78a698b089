import { badRequest } from '../api/errors.ts';
import { isJsonObject, parseJson } from '../encoding/json.ts';

/** Where the next page of a list starts. The encoding is upstream's (apiserver/pkg/storage/continue.go), so that tokens survive a change of server. */
export interface ContinueToken {
  /** -1: no consistent state is left to continue in; the newest is to be used. */
  revision: number;
  /** Full storage key; the page starts at it, inclusive. */
  startKey: string;
}

const VERSION = 'meta.k8s.io/v1';

export function encodeContinue(lastKey: string, keyPrefix: string, revision: number): string {
  const start = `/${lastKey.slice(keyPrefix.length)}\0`;
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

export function decodeContinue(token: string, keyPrefix: string): ContinueToken {
  const badByte = token.search(/[^A-Za-z0-9_-]/);
  if (badByte >= 0) throw bad(`: illegal base64 data at input byte ${badByte}`);
  // A last group of one character holds no byte.
  if (token.length % 4 === 1) throw bad(`: illegal base64 data at input byte ${token.length - 1}`);
  const decoded = parse(Buffer.from(token, 'base64url'));
  if (decoded['v'] !== VERSION) throw bad(`: server does not recognize this encoded version ${String(decoded['v'] ?? '')}`);
  const revision = decoded['rv'];
  const start = decoded['start'];
  if (typeof revision !== 'number' || !Number.isSafeInteger(revision) || revision === 0)
    throw bad(`: incorrect encoded start resourceVersion (version ${VERSION})`);
  if (typeof start !== 'string' || start === '') throw bad(`: encoded start key empty (version ${VERSION})`);
  // A token is the client's: its key must not climb out of the prefix (CVE-2015-5305's kind).
  const segments = start.replace(/^\//, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) throw bad(`: ${start}`);
  return { revision, startKey: keyPrefix + segments.join('/') };
}

function parse(bytes: Buffer): Record<string, unknown> {
  try {
    const value = parseJson(bytes);
    return isJsonObject(value) ? value : {};
  } catch (error) {
    throw bad(`: ${(error as Error).message}`);
  }
}

const bad = (detail: string): Error => badRequest(`invalid continue token: continue key is not valid${detail}`);
