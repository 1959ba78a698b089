import { createHash } from 'node:crypto';
import type { Authentication, Authenticator } from '../server/authenticator.ts';
import { type CertificateFields, describeCertificate, parseCertificate, subjectOf } from '../serving/certificates/certificate.ts';
import { verifyClientChain } from '../serving/certificates/verify.ts';
import type { ConnectionInfo } from '../serving/exchange.ts';

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

export interface ClientCertificateOptions {
  /** The authorities' PEM; the same array as long as they are the same, so that what was found for a connection holds until they change. */
  authorities(): readonly string[];
  nowMs?(): number;
  /** Whether the subject's UID is looked at (AllowParsingUserUIDFromCertAuth); true where absent. */
  readsUid?: boolean;
  /** Told how long a certificate is still valid that a request came with. */
  observe?(remainingMs: number): void;
}

/** What was made of a connection's certificate: good for as long as the authorities stay and every link of its chain is valid. */
interface Finding {
  authorities: readonly string[];
  validUntilMs: number;
  /** Undefined where the certificate names nobody. */
  result: Authentication | Error | undefined;
}

/** Client certificates: the common name is the user, the organizations are the groups (apiserver/pkg/authentication/request/x509). */
export function clientCertificate({ authorities, nowMs = Date.now, readsUid = true, observe }: ClientCertificateOptions): Authenticator {
  return {
    authenticate({ exchange: { connection } }) {
      if (connection.peerCertificates.length === 0) return undefined;
      const now = nowMs();
      const { result, validUntilMs } = findingFor(connection, authorities(), now, readsUid);
      if (result instanceof Error) throw result;
      observe?.(validUntilMs - now);
      return result;
    },
  };
}

function findingFor(connection: ConnectionInfo, authorities: readonly string[], nowMs: number, readsUid: boolean): Finding {
  const kept = connection.certificateUser as Finding | undefined;
  if (kept !== undefined && kept.authorities === authorities && nowMs <= kept.validUntilMs) return kept;
  const finding = examine(connection.peerCertificates, authorities, nowMs, readsUid);
  connection.certificateUser = finding;
  return finding;
}

function examine(chainDer: readonly Buffer[], authorities: readonly string[], nowMs: number, readsUid: boolean): Finding {
  try {
    const chain = verifyClientChain(chainDer, authorities, new Date(nowMs));
    return { authorities, validUntilMs: Math.min(...chain.map(({ notAfter }) => notAfter.getTime())), result: userOf(chain[0]!, readsUid) };
  } catch (error) {
    // A refusal is kept as well: a certificate can become valid with time, but its client may as well connect again.
    return {
      authorities,
      validUntilMs: Infinity,
      result: new Error(`verifying certificate ${describeIfReadable(chainDer[0]!)} failed: ${(error as Error).message}`),
    };
  }
}

function userOf(leaf: CertificateFields, readsUid: boolean): Authentication | undefined {
  const { commonName, organizations, uids } = subjectOf(leaf);
  if (commonName === '') return undefined;
  const uid = readsUid ? soleUid(uids) : undefined;
  const fingerprint = createHash('sha256').update(leaf.raw).digest('hex');
  return { user: { name: commonName, ...(uid !== undefined && { uid }), groups: organizations, extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] } } };
}

function soleUid(uids: readonly string[]): string | undefined {
  if (uids.length === 0) return undefined;
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids[0] === '') throw new Error('UID cannot be an empty string');
  return uids[0];
}

function describeIfReadable(der: Buffer): string {
  try {
    return describeCertificate(parseCertificate(der));
  } catch {
    return '(unreadable)';
  }
}
