import { createHash } from 'node:crypto';
import { readSigned } from '../../encoding/der.ts';
import { quote } from '../../util/go-quote.ts';
import { type CertificateFields, subjectOf } from './certificate.ts';
import { hostNameProblem } from './host-name.ts';
import { comparisonBudget, constraintProblem } from './name-constraints.ts';
import { Oid } from './oids.ts';
import { checkKeyType, parsePeerCertificates } from './peer.ts';
import { arePoliciesValid } from './policies.ts';
import { type CertificatePool, poolOf, poolOfPem } from './pool.ts';
import { checkCost, signatureProblem } from './signature.ts';

/*
 * Paths of certificates, found and refused as Go's crypto/x509 does it (Certificate.Verify), in its words: software for Kubernetes is tested against that.
 * It differs from OpenSSL's in what an anchor is: any certificate in the pool is one, be it a root, an intermediate or the leaf itself.
 */

export interface VerifyOptions {
  /** The trust anchors. */
  roots: CertificatePool;
  /** What the peer has sent along; nothing in it is trusted. */
  intermediates: CertificatePool;
  /** The extended key usage that every certificate of the chain must allow. */
  usage: typeof Oid.serverAuth | typeof Oid.clientAuth;
  /** The name or address that the leaf must be for; undefined: any. */
  host?: string | undefined;
  now: Date;
}

/** A certificate that is not trusted. The message is Go's. */
export class CertificateError extends Error {}

/** A peer's intermediates can be made to issue each other: without a limit the ways through them would be countless. The number is Go's. */
const MAX_SIGNATURE_CHECKS = 100;
/** In checks with a key of the usual size. Sixteen times as much as a check of RSA-2048 is one of RSA-8192, the largest key that a peer may have. */
const MAX_CHECK_COST = 400;

/** The chain that was found, leaf first, the anchor last. Throws CertificateError where there is none. */
export function verifyCertificate(leaf: CertificateFields, options: VerifyOptions): CertificateFields[] {
  const problem = validityProblem(leaf, [], options.now) ?? (options.host === undefined ? undefined : hostNameProblem(leaf, options.host));
  if (problem !== undefined) throw new CertificateError(problem);
  const search = new ChainSearch(options);
  if (options.roots.has(leaf)) search.consider([leaf]);
  else search.extend([leaf]);
  return search.result();
}

/** One search for chains. It ends with the first that nothing speaks against; what speaks against the others is told only where there is none. */
class ChainSearch {
  readonly #options: VerifyOptions;
  readonly #budget = comparisonBudget();
  #found: CertificateFields[] | undefined;
  #failure: string | undefined;
  #constraintProblem: string | undefined;
  #invalidPolicies = 0;
  #incompatibleUsages = 0;
  #hasCandidates = false;
  #checks = 0;
  #cost = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
  }

  /** A chain that ends in an anchor. */
  consider(chain: CertificateFields[]): void {
    this.#hasCandidates = true;
    if (!arePoliciesValid(chain)) return void this.#invalidPolicies++;
    if (!chain.every((certificate) => allowsUsage(certificate, this.#options.usage))) return void this.#incompatibleUsages++;
    const problem = constraintProblem(chain, this.#budget);
    if (problem !== undefined) this.#constraintProblem ??= problem;
    else if (!chain.some(isDistrusted)) this.#found = chain;
  }

  /** Looks for issuers of the last certificate of a path. Returns why there is no chain by this path; undefined where there is one. */
  extend(path: readonly CertificateFields[]): string | undefined {
    const { roots, intermediates } = this.#options;
    const last = path.at(-1)!;
    const hint: Hint = {};
    const attempt: Attempt = { failure: undefined, hasChain: false };
    const tryAll = (parents: readonly CertificateFields[], isIntermediate: boolean): boolean =>
      parents.every((parent) => this.#tryParent(parent, path, isIntermediate, hint, attempt));
    if (tryAll(roots.candidatesFor(last), false)) tryAll(intermediates.candidatesFor(last), true);
    this.#failure = attempt.hasChain ? undefined : (attempt.failure ?? unknownAuthority(hint));
    return this.#failure;
  }

  result(): CertificateFields[] {
    if (this.#found) return this.#found;
    throw new CertificateError(this.#hasCandidates ? this.#refusal() : this.#failure!);
  }

  /** Whether to go on. */
  #tryParent(parent: CertificateFields, path: readonly CertificateFields[], isIntermediate: boolean, hint: Hint, attempt: Attempt): boolean {
    this.#cost += checkCost(parent.publicKey);
    if (++this.#checks > MAX_SIGNATURE_CHECKS || this.#cost > MAX_CHECK_COST) {
      attempt.failure = LIMIT_REACHED;
      return false;
    }
    if (parent.publicKey.type === undefined || isInPath(parent, path)) return true;
    const unsigned = signatureProblem(path.at(-1)!, parent);
    if (unsigned !== undefined) {
      noteHint(hint, unsigned, parent);
      return true;
    }
    attempt.failure = validityProblem(parent, path, this.#options.now, isIntermediate);
    if (attempt.failure !== undefined) {
      noteHint(hint, attempt.failure, parent);
      return true;
    }
    if (isIntermediate) {
      attempt.failure = this.extend([...path, parent]);
      if (attempt.failure === undefined) attempt.hasChain = true;
    } else {
      attempt.hasChain = true;
      this.consider([...path, parent]);
    }
    return !this.#found && attempt.failure !== LIMIT_REACHED;
  }

  #refusal(): string {
    if (this.#constraintProblem !== undefined)
      return `x509: a root or intermediate certificate is not authorized to sign for this name: ${this.#constraintProblem}`;
    if (this.#incompatibleUsages > 0 && this.#invalidPolicies === 0) return 'x509: certificate specifies an incompatible key usage';
    const details = [
      ...(this.#incompatibleUsages > 0 ? [`${this.#incompatibleUsages} candidate chains with incompatible key usage`] : []),
      ...(this.#invalidPolicies > 0 ? [`${this.#invalidPolicies} candidate chains with invalid policies`] : []),
    ].join(', ');
    return details === '' ? 'x509: no valid chains built' : `x509: no valid chains built: ${details}`;
  }
}

/** What became of the candidates for one certificate's issuer. */
interface Attempt {
  /** The last that was tried says it. */
  failure: string | undefined;
  hasChain: boolean;
}

/** The first candidate that could not be used, and why. */
interface Hint {
  problem?: string;
  certificate?: CertificateFields;
}

function noteHint(hint: Hint, problem: string, certificate: CertificateFields): void {
  if (hint.problem !== undefined) return;
  hint.problem = problem;
  hint.certificate = certificate;
}

const LIMIT_REACHED = 'x509: signature check attempts limit reached while verifying certificate chain';

function unknownAuthority({ problem, certificate }: Hint): string {
  const text = 'x509: certificate signed by unknown authority';
  if (problem === undefined) return text;
  const { commonName, organizations } = subjectOf(certificate!);
  const name = commonName || (organizations[0] ?? `serial:${readSigned(certificate!.serialNumber)}`);
  return `${text} (possibly because of ${quote(problem)} while trying to verify candidate authority certificate ${quote(name)})`;
}

/** What keeps a certificate out of a path; an issuer stands behind the path so far. Key usage is not looked at: Go does not either. */
function validityProblem(certificate: CertificateFields, path: readonly CertificateFields[], now: Date, isIntermediate = false): string | undefined {
  const { notBefore, notAfter, hasBasicConstraints, isCa, maxPathLength } = certificate;
  if (certificate.unhandledCritical.length > 0) return 'x509: unhandled critical extension';
  const outOfDate = `x509: certificate has expired or is not yet valid: current time ${rfc3339(now)}`;
  if (now < notBefore) return `${outOfDate} is before ${rfc3339(notBefore)}`;
  if (now > notAfter) return `${outOfDate} is after ${rfc3339(notAfter)}`;
  if (isIntermediate && (!hasBasicConstraints || !isCa)) return 'x509: certificate is not authorized to sign other certificates';
  return maxPathLength !== undefined && path.length - 1 > maxPathLength ? 'x509: too many intermediates for path length constraint' : undefined;
}

const rfc3339 = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

/** The same owner with the same key and names, whatever else is written in the certificate: this ends circles of authorities that signed each other. */
const isInPath = (candidate: CertificateFields, path: readonly CertificateFields[]): boolean => {
  for (const certificate of path) {
    if (!candidate.subject.equals(certificate.subject) || !candidate.publicKey.raw.equals(certificate.publicKey.raw)) continue;
    const [names, others] = [candidate.subjectAltName, certificate.subjectAltName];
    if (!names || !others) return names === others;
    if (names.equals(others)) return true;
  }
  return false;
};

const allowsUsage = ({ extendedKeyUsage }: CertificateFields, usage: string): boolean =>
  extendedKeyUsage.length === 0 || extendedKeyUsage.includes(Oid.anyExtendedKeyUsage) || extendedKeyUsage.includes(usage);

/** SHA-256 of the keys of authorities that have lost everyone's trust (crypto/x509, distrustedSPKIHashes). */
const DISTRUSTED_KEYS: ReadonlySet<string> = new Set([
  'ebed6475c2c2d80fcb199f3fe8dd6e6b3ce60b77eb15d4e42c3dec0c6f5b5105',
  '49dd353dc2b919a3770645117d0e60c16115e7d1bc259eefe734b00ea434fe5f',
  'e0254c7fcdc265e2f0f8a428dabb75ab4ae039b4872d62f5ee57f0877d5a8a41',
  '5c0660a2b164910d8ff589c18e14552e9e0ec237dcefe2cb736d41a4811f81a0',
  '43bffa19d6ef651451f6841e019931e96f6f2eaeff28ab4b6f1ce4576de2717b',
  '63ecefee431d49523bc1136c4e72d0206a477086caf606cd5cf025686c109cf8',
  'ec4ffa1ad0ac88081314b7aaffef6a91f97cd57291bb5ba686c5415f5eb4f6b6',
  '92c063d67e8f14db71d288e11266ffdaf69cbf115f7bab14f3bc2f68d25e0e30',
]);

const isDistrusted = ({ publicKey }: CertificateFields): boolean => DISTRUSTED_KEYS.has(createHash('sha256').update(publicKey.raw).digest('hex'));

/** Pools that were made before, so that a handshake does not parse the CA again. Keyed by the array: pass the same one while it is unchanged. */
const pools = new WeakMap<readonly string[], CertificatePool>();

/** A client's chain (DER, leaf first, the others in any order) against the authorities' PEM: what Go's x509.Verify does with ExtKeyUsageClientAuth. */
export function verifyClientChain(chainDer: readonly Buffer[], caPem: readonly string[], now: Date = new Date()): CertificateFields[] {
  let roots = pools.get(caPem);
  if (!roots) pools.set(caPem, (roots = poolOfPem(caPem)));
  const [leaf, ...others] = parsePeerCertificates(chainDer, 'client');
  checkKeyType(leaf, 'client');
  return verifyCertificate(leaf, { roots, intermediates: poolOf(others), usage: Oid.clientAuth, now });
}

/** A server's chain, as crypto/tls does it for a client. Errors begin as those of crypto/tls do. Without `roots`, nothing is verified (InsecureSkipVerify). */
export function verifyServerChain(
  chainDer: readonly Buffer[],
  { roots, host, now = new Date() }: { roots?: CertificatePool; host: string; now?: Date },
): [CertificateFields, ...CertificateFields[]] {
  const [leaf, ...others] = parsePeerCertificates(chainDer, 'server');
  try {
    if (roots) verifyCertificate(leaf, { roots, intermediates: poolOf(others), usage: Oid.serverAuth, host, now });
  } catch (error) {
    throw error instanceof CertificateError ? new CertificateError(`tls: failed to verify certificate: ${error.message}`) : error;
  }
  checkKeyType(leaf, 'server');
  return [leaf, ...others];
}
