import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { parseCertificate, subjectOf } from '../../src/serving/certificates/certificate.ts';
import { hostNameProblem } from '../../src/serving/certificates/host-name.ts';
import { decodePem } from '../../src/serving/certificates/pem.ts';
import { CertificateError, verifyClientChain } from '../../src/serving/certificates/verify.ts';
import { DerError } from '../../src/util/der.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

const authority = createAuthority({ commonName: 'authority' });
const intermediate = createAuthority({ commonName: 'intermediate', issuer: authority });
const leafOf = (issuer: typeof authority): Buffer =>
  decodePem(
    'CERTIFICATE',
    signCertificate(issuer, { commonName: 'user', organizations: ['group'], hosts: ['a.example.org'], ips: ['10.0.0.1'], usages: ['client'] }).certPem,
  )[0]!;
const LEAVES = [leafOf(authority), leafOf(intermediate)];
const SIGNED = LEAVES.map((leaf) => parseCertificate(leaf).tbs);
const ROOTS = [authority.certPem];
const TOKENS = bytes(
  '\x30\x80',
  '\x30\x82',
  '\x02\x01\x00',
  '\x05\x00',
  '\x01\x01\xff',
  '\x06\x03\x55\x1d',
  '\x55\x1d\x13',
  '\x55\x1d\x1e',
  '\x55\x1d\x11',
  '\xa0\x03\x02\x01\x02',
  '\x31\x00',
  '\x0c\x00',
  '\x17\x0d',
  '\x82',
  '\x84\xff\xff\xff\xff',
);

/** The lengths stand before the certificates, so that a change of one does not make all of them unreadable. */
const withLengths = (...chain: readonly Buffer[]): Buffer =>
  Buffer.concat(
    chain.flatMap((certificate) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(certificate.length);
      return [length, certificate];
    }),
  );

function chainIn(input: Buffer): Buffer[] {
  const chain: Buffer[] = [];
  for (let at = 0; at + 2 <= input.length && chain.length < 10;) {
    const end = at + 2 + input.readUInt16BE(at);
    chain.push(input.subarray(at + 2, end));
    at = end;
  }
  return chain;
}

/** A chain that verifies begins with the very bytes that an authority has signed. */
export const certificateChain: FuzzTarget = {
  name: 'certificate-chain',
  seeds: () => [withLengths(LEAVES[0]!), withLengths(LEAVES[1]!, decodePem('CERTIFICATE', intermediate.certPem)[0]!)],
  tokens: TOKENS,
  refusals: [CertificateError, DerError, Error],
  run(input) {
    const chain = chainIn(input);
    const [leaf] = verifyClientChain(chain, ROOTS);
    if (!SIGNED.some((signed) => signed.equals(leaf!.tbs))) throw new WrongAnswer('a certificate that nobody signed is verified');
    subjectOf(leaf!);
  },
};

/** The parser alone, and what reads names. */
export const certificate: FuzzTarget = {
  name: 'certificate',
  seeds: () => [...LEAVES, ...decodePem('CERTIFICATE', authority.certPem)],
  tokens: TOKENS,
  refusals: [DerError],
  run(input) {
    const fields = parseCertificate(input);
    subjectOf(fields);
    hostNameProblem(fields, 'a.example.org');
    hostNameProblem(fields, '10.0.0.1');
  },
};
