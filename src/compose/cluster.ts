import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { type Authority, type CertificateRequest, createAuthority, loadAuthority, signCertificate } from '../serving/certificates/create.ts';
import type { KeyPair } from '../serving/certificates/pem.ts';
import { type CompletedOptions, complete } from '../options/completion.ts';
import { readIfThere, writePrivately } from './files.ts';
import type { FlagName } from '../options/flags/options.ts';
import { parseFlags } from '../options/flags/parser.ts';
import { servingNames } from './generated-files.ts';

/** A server with an authority of its own, and an administrator that it knows. */
export interface Cluster {
  readonly options: CompletedOptions;
  /** What clients trust: our authority, or where --tls-cert-file was given, that file. */
  readonly caCertificate: string;
  /** For the administrator: the client certificate is in it. */
  adminKubeconfig(url: string): string;
}

/** Made anew when it has less than this to live. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/**
 * Options for a local cluster, out of serve's flags. `defaults` stand where a flag is not given; so do the certificates, which are made in the
 * data folder, kept over restarts, and renewed before they run out.
 */
export function prepareCluster(args: readonly string[], defaults: Readonly<Partial<Record<FlagName, string>>>): Cluster {
  const { given } = parseFlags(args);
  const withDefaults = (more: Readonly<Partial<Record<FlagName, string>>>): string[] => [
    ...Object.entries(more).flatMap(([name, value]) => (given.has(name as FlagName) ? [] : [`--${name}=${value}`])),
    ...args,
  ];
  const draft = complete(parseFlags(withDefaults({ ...defaults })));
  const files = certificateFiles(draft.dataDir);
  const authority = keptAuthority(files.ca);
  keptPair(files.server, authority, { commonName: 'kube-apiserver', usages: ['server'], ...servingNames(draft) });
  const admin = keptPair(files.admin, authority, { commonName: 'admin', organizations: ['system:masters'], usages: ['client'] });
  const isOwnServingPair = !given.has('tls-cert-file') && !given.has('tls-private-key-file');
  const servingFlags = isOwnServingPair ? { 'tls-cert-file': files.server.cert, 'tls-private-key-file': files.server.key } : {};
  const options = complete(parseFlags(withDefaults({ ...defaults, 'client-ca-file': files.ca.cert, ...servingFlags })));
  const caCertificate = isOwnServingPair ? authority.certPem : readIfThere(options.tlsCertFile)!;
  return { options, caCertificate, adminKubeconfig: (url) => kubeconfig(url, caCertificate, admin) };
}

interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

function certificateFiles(dataDir: string): Record<'ca' | 'server' | 'admin', PairFiles> {
  const pair = (name: string): PairFiles => ({ cert: join(dataDir, 'certificates', `${name}.crt`), key: join(dataDir, 'certificates', `${name}.key`) });
  return { ca: pair('ca'), server: pair('server'), admin: pair('admin') };
}

function readPair({ cert, key }: PairFiles): KeyPair | undefined {
  const certPem = readIfThere(cert);
  const keyPem = readIfThere(key);
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}

function writePair({ cert, key }: PairFiles, { certPem, keyPem }: KeyPair): void {
  writePrivately(key, keyPem);
  writePrivately(cert, certPem);
}

function keptAuthority(files: PairFiles): Authority {
  const kept = readPair(files);
  if (kept && lastsLongEnough(new X509Certificate(kept.certPem))) return loadAuthority(kept);
  const authority = createAuthority({ commonName: 'binnacle-ca' });
  writePair(files, authority);
  return authority;
}

function keptPair(files: PairFiles, authority: Authority, request: CertificateRequest): KeyPair {
  const kept = readPair(files);
  if (kept && isStillGood(new X509Certificate(kept.certPem), authority, request)) return kept;
  const pair = signCertificate(authority, request);
  writePair(files, pair);
  return pair;
}

const lastsLongEnough = (certificate: X509Certificate): boolean => Date.parse(certificate.validTo) - Date.now() > RENEW_BEFORE_MS;

/** The machine may have got another address since, and the authority may have been made anew. */
function isStillGood(certificate: X509Certificate, authority: Authority, { hosts = [], ips = [] }: CertificateRequest): boolean {
  return (
    lastsLongEnough(certificate) &&
    certificate.verify(new X509Certificate(authority.certPem).publicKey) &&
    hosts.every((host) => certificate.checkHost(host) !== undefined) &&
    ips.every((ip) => certificate.checkIP(ip) !== undefined)
  );
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const kubeconfig = (url: string, caCertificate: string, { certPem, keyPem }: KeyPair): string => `apiVersion: v1
kind: Config
clusters:
- name: binnacle
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caCertificate)}
users:
- name: admin
  user:
    client-certificate-data: ${base64(certPem)}
    client-key-data: ${base64(keyPem)}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: admin
current-context: binnacle
`;
