import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
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
  readonly admin: KeyPair;
  /** The data folder's own authority, which has signed the certificates of the server and the administrator. */
  readonly authority: Authority;
  /** All that was made or found, for the next cluster of this process. */
  readonly keys: ClusterKeys;
}

/** An authority, and what it has signed for a server that is reached by these names. */
export interface ClusterKeys {
  readonly authority: Authority;
  readonly server: KeyPair;
  readonly admin: KeyPair;
  readonly names: ReturnType<typeof servingNames>;
}

/** Made anew when it has less than this to live. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/**
 * Options for a local cluster, out of serve's flags. `defaults` stand where a flag is not given; so do the certificates, which are made in the
 * data folder, kept over restarts, and renewed before they run out. `known`: what another cluster of this process has, to put into a new folder.
 */
export function prepareCluster(args: readonly string[], defaults: Readonly<Partial<Record<FlagName, string>>>, known?: ClusterKeys): Cluster {
  const { given } = parseFlags(args);
  const withDefaults = (more: Readonly<Partial<Record<FlagName, string>>>): string[] => [
    ...Object.entries(more).flatMap(([name, value]) => (given.has(name as FlagName) ? [] : [`--${name}=${value}`])),
    ...args,
  ];
  const draft = complete(parseFlags(withDefaults({ ...defaults })));
  const files = certificateFiles(draft.dataDir);
  const names = servingNames(draft);
  const keys = known && isDeepStrictEqual(known.names, names) ? writeKeys(files, known) : keptKeys(files, names);
  const { authority, admin } = keys;
  const isOwnServingPair = !given.has('tls-cert-file') && !given.has('tls-private-key-file');
  const servingFlags = isOwnServingPair ? { 'tls-cert-file': files.server.cert, 'tls-private-key-file': files.server.key } : {};
  const options = complete(parseFlags(withDefaults({ ...defaults, 'client-ca-file': files.ca.cert, ...servingFlags })));
  const caCertificate = isOwnServingPair ? authority.certPem : readIfThere(options.tlsCertFile)!;
  const adminKubeconfig = (url: string): string => kubeconfigText({ url, caCertificate, user: 'admin', credentials: admin });
  return { options, caCertificate, adminKubeconfig, admin, authority, keys };
}

type ClusterFiles = ReturnType<typeof certificateFiles>;

function keptKeys(files: ClusterFiles, names: ClusterKeys['names']): ClusterKeys {
  const authority = keptAuthority(files.ca);
  const server = keptPair(files.server, authority, { commonName: 'kube-apiserver', usages: ['server'], ...names });
  const admin = keptPair(files.admin, authority, { commonName: 'admin', organizations: ['system:masters'], usages: ['client'] });
  return { authority, server, admin, names };
}

function writeKeys(files: ClusterFiles, keys: ClusterKeys): ClusterKeys {
  writePair(files.ca, keys.authority);
  writePair(files.server, keys.server);
  writePair(files.admin, keys.admin);
  return keys;
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

export interface KubeconfigParts {
  url: string;
  caCertificate: string;
  user: string;
  credentials: KeyPair | { readonly token: string };
}

const credentialLines = (credentials: KubeconfigParts['credentials']): string =>
  'token' in credentials
    ? `    token: ${credentials.token}`
    : `    client-certificate-data: ${base64(credentials.certPem)}
    client-key-data: ${base64(credentials.keyPem)}`;

/** A kubeconfig with one user, in whose name it talks to one server. A name in JSON is one in YAML, whatever is in it. */
export function kubeconfigText({ url, caCertificate, user, credentials }: KubeconfigParts): string {
  const userName = /^[a-z][a-z0-9-]*$/.test(user) ? user : JSON.stringify(user);
  return `apiVersion: v1
kind: Config
clusters:
- name: binnacle
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caCertificate)}
users:
- name: ${userName}
  user:
${credentialLines(credentials)}
contexts:
- name: binnacle
  context:
    cluster: binnacle
    user: ${userName}
current-context: binnacle
`;
}
