import { type KeyObject, X509Certificate, createPublicKey, sign, verify } from 'node:crypto';
import { createAuthority, signCertificate } from '../../src/serving/certificates/create.ts';
import { parseCertificate, subjectOf } from '../../src/serving/certificates/certificate.ts';
import { hostNameProblem } from '../../src/serving/certificates/host-name.ts';
import { decodePem } from '../../src/serving/certificates/pem.ts';
import { CertificateError, verifyClientChain } from '../../src/serving/certificates/verify.ts';
import { DerError, Tag, bitString, readValue, sequence } from '../../src/encoding/der.ts';
import type { Random } from '../../src/util/test-random.ts';
import { mutateDer } from '../structure/der.ts';
import { type FuzzTarget, WrongAnswer, bytes } from '../target.ts';

const authority = createAuthority({ commonName: 'authority' });
const intermediate = createAuthority({ commonName: 'intermediate', issuer: authority });
const leafOf = (issuer: typeof authority): Buffer =>
  decodePem(
    'CERTIFICATE',
    signCertificate(issuer, { commonName: 'user', organizations: ['group'], hosts: ['a.example.org'], ips: ['10.0.0.1'], usages: ['client'] }).certPem,
  )[0]!;
const LEAVES = [leafOf(authority), leafOf(intermediate)];
const KEYS = [authority.key, intermediate.key];
const PUBLIC_KEYS = KEYS.map((key) => createPublicKey(key));
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

/** The certificate with something changed in it; mostly in what is signed, and signed again, so that what is looked at behind the signature is looked at too. */
function mutateCertificate(random: Random, input: Buffer, key: KeyObject = random.pick(KEYS)): Buffer | undefined {
  if (random.chance(0.2)) return mutateDer(random, input);
  try {
    const tbs = mutateDer(random, readValue(readValue(input).content).raw);
    return tbs && sequence(tbs, algorithmIn(tbs), bitString(sign('sha256', tbs, key)));
  } catch {
    return undefined;
  }
}

/** Behind the version and the serial number; it is said once more before the signature. */
function algorithmIn(tbs: Buffer): Buffer {
  const { content } = readValue(tbs);
  let at = 0;
  while (at < content.length && content[at] !== Tag.sequence) at += readValue(content, at).raw.length;
  return readValue(content, at).raw;
}

function mutateChain(random: Random, input: Buffer): Buffer | undefined {
  const chain = chainIn(input);
  if (chain.length === 0) return undefined;
  const at = random.below(chain.length);
  const issuer = at === chain.length - 1 ? authority : intermediate;
  const mutated = mutateCertificate(random, chain[at]!, random.chance(0.9) ? issuer.key : undefined);
  if (mutated === undefined || mutated.length > 0xffff) return undefined;
  const others = random.chance(0.1) ? [...chain, random.pick(chain)] : chain;
  return withLengths(...others.with(at, mutated));
}

const isSignedBy = ({ tbs, signature }: { tbs: Buffer; signature: Buffer }, keys: readonly KeyObject[]): boolean =>
  keys.some((key) => verify('sha256', tbs, key, signature));

/** The keys of the authorities, and of those in the chain whom they have signed, as OpenSSL sees it. */
function trustedKeys(chain: readonly Buffer[]): KeyObject[] {
  const keys = [...PUBLIC_KEYS];
  for (let round = 0; round < chain.length; round++) {
    for (const certificate of chain) {
      try {
        if (isSignedBy(parseCertificate(certificate), keys)) keys.push(new X509Certificate(certificate).publicKey);
      } catch {
        // One that is none signs nothing.
      }
    }
  }
  return keys;
}

/** A chain that verifies begins with the very bytes that an authority has signed, or one whom it has signed. */
export const certificateChain: FuzzTarget = {
  name: 'certificate-chain',
  seeds: () => [withLengths(LEAVES[0]!), withLengths(LEAVES[1]!, decodePem('CERTIFICATE', intermediate.certPem)[0]!)],
  tokens: TOKENS,
  mutateStructure: mutateChain,
  refusals: [CertificateError, DerError, Error],
  run(input) {
    const chain = chainIn(input);
    const [leaf] = verifyClientChain(chain, ROOTS);
    subjectOf(leaf!);
    return () => {
      if (!isSignedBy(leaf!, trustedKeys(chain))) throw new WrongAnswer('a certificate that nobody signed is verified');
    };
  },
};

/** The parser alone, and what reads names. */
export const certificate: FuzzTarget = {
  name: 'certificate',
  seeds: () => [...LEAVES, ...decodePem('CERTIFICATE', authority.certPem)],
  tokens: TOKENS,
  mutateStructure: (random, input) => mutateCertificate(random, input),
  refusals: [DerError],
  run(input) {
    const fields = parseCertificate(input);
    subjectOf(fields);
    hostNameProblem(fields, 'a.example.org');
    hostNameProblem(fields, '10.0.0.1');
  },
};
