import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { constants } from 'node:crypto';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { CommandError } from '../../options/command-error.ts';
import { stopOnSignals } from '../../server/lifecycle.ts';
import { peerCertificatesOf } from '../../serving/certificates/peer.ts';
import { decodePem } from '../../serving/certificates/pem.ts';
import { verifyClientChain } from '../../serving/certificates/verify.ts';
import { openEmbeddedEngine } from '../../storage/engines/embedded.ts';
import type { LocalEngine } from '../../storage/engines/local-engine.ts';
import { openMemoryEngine } from '../../storage/engines/memory.ts';
import { startEtcdServer } from '../../storage/etcd-server/server.ts';
import { onAbort } from '../../util/on-abort.ts';
import type { Output } from '../command.ts';
import { readOwnFlags } from './own-flags.ts';

const FLAGS = {
  'data-dir': { type: 'string', default: '.binnacle' },
  memory: { type: 'boolean', default: false },
  'listen-client-urls': { type: 'string', default: 'http://127.0.0.1:2379' },
  'cert-file': { type: 'string' },
  'key-file': { type: 'string' },
  'trusted-ca-file': { type: 'string' },
  'client-cert-auth': { type: 'boolean', default: false },
  'max-request-bytes': { type: 'string', default: '1572864' },
  'history-bytes': { type: 'string', default: '67108864' },
} as const;

/** `binnacle store`: the embedded store behind etcd's API, for any number of API servers. */
export async function store(args: readonly string[], output: Output): Promise<void> {
  const { values, positionals } = readOwnFlags(args, FLAGS);
  if (positionals.length > 0) throw new CommandError(`"binnacle store" takes flags only, got ${JSON.stringify(positionals[0])}`);
  const maxRequestBytes = numberOf('max-request-bytes', values['max-request-bytes']);
  const historyBytes = numberOf('history-bytes', values['history-bytes']);
  const listenUrls = String(values['listen-client-urls']).split(',');
  const tls = await readTls(values);
  const checkClient = await readClientCheck(values);
  const stopSignal = stopOnSignals();
  const engine = await openEngine(values['memory'] === true, String(values['data-dir']), historyBytes);
  try {
    const server = await startEtcdServer({
      engine,
      listenUrls,
      tls,
      checkClient,
      maxRequestBytes,
      ...(values['memory'] !== true && { snapshotFolder: resolve(String(values['data-dir'])) }),
      onViolation: (message) => output.stderr(`a client was cut off: ${message}\n`),
    });
    output.stderr(`etcd's API is served at ${server.urls.join(', ')}\n`);
    await new Promise<void>((stopped) => onAbort(stopSignal, stopped));
    await server.close();
  } finally {
    await engine.close();
  }
}

/** Servers compact what is older than some minutes; the bound is for when nobody does, or when much is written in these minutes. */
async function openEngine(isInMemory: boolean, dataDir: string, historyBytes: number): Promise<LocalEngine> {
  const history = { minEvents: 1_000, maxEvents: Infinity, maxBytes: historyBytes };
  if (isInMemory) return openMemoryEngine({ history });
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return openEmbeddedEngine({ folder: join(folder, 'store'), history });
}

type FlagValues = Record<string, string | boolean | undefined>;

function numberOf(name: string, value: string | boolean | undefined): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number <= 0) throw new CommandError(`--${name} takes a number of bytes, not ${JSON.stringify(value)}`);
  return number;
}

async function readTls(values: FlagValues): Promise<TlsOptions | undefined> {
  const { 'cert-file': cert, 'key-file': key, 'trusted-ca-file': ca, 'client-cert-auth': asksForCertificate } = values;
  if (cert === undefined && key === undefined && ca === undefined && !asksForCertificate) return undefined;
  if (cert === undefined || key === undefined) throw new CommandError('--cert-file and --key-file belong together; without them there is no TLS');
  if (asksForCertificate && ca === undefined) throw new CommandError('--client-cert-auth needs --trusted-ca-file, whose certificates it asks for');
  return {
    cert: await readNamed('cert-file', cert),
    key: await readNamed('key-file', key),
    minVersion: 'TLSv1.2',
    // The certificate of a session that is taken up again comes without its chain.
    secureOptions: constants.SSL_OP_NO_TICKET,
    // `readClientCheck` looks at it.
    ...(ca !== undefined && { requestCert: true, rejectUnauthorized: false }),
  };
}

/**
 * As Go verifies certificates, whose programs know these files: what `--trusted-ca-file` has may be a root, an intermediate or the client's own. With the file, clients need
 * a certificate, as etcd has it (client/pkg/transport/listener.go).
 */
async function readClientCheck({ 'trusted-ca-file': ca }: FlagValues): Promise<((socket: TLSSocket) => void) | undefined> {
  if (ca === undefined) return undefined;
  const authorities = [(await readNamed('trusted-ca-file', ca)).toString()];
  if (decodePem('CERTIFICATE', authorities[0]!).length === 0) throw new CommandError(`--trusted-ca-file: there is no certificate in ${ca}`);
  return (socket) => void verifyClientChain(peerCertificatesOf(socket), authorities);
}

async function readNamed(flag: string, path: string | boolean): Promise<Buffer> {
  try {
    return await readFile(String(path));
  } catch (error) {
    throw new CommandError(`--${flag}: ${(error as Error).message}`);
  }
}

export const storeHelp = (program: string): string => `Serves an embedded store by etcd's API (v3, gRPC), as far as Kubernetes and etcdctl use it: any
number of API servers, Binnacle or kube-apiserver, run on it with --etcd-servers. It is the store
that \`binnacle serve\` keeps in --data-dir; only one of them can have it open.

Usage:
  ${program} [flags]

Flags:
      --data-dir .binnacle         where the store is
      --memory                     keep nothing on disk
      --listen-client-urls http://127.0.0.1:2379
                                   comma-separated; https:// with TLS, unix:///path for a socket
      --cert-file, --key-file      the server's certificate
      --trusted-ca-file            clients must have a certificate that one in this file has signed
      --client-cert-auth           the same, as etcd has this flag: it needs that file
      --max-request-bytes 1572864  the largest write, as of etcd
      --history-bytes 67108864     how much of the past is kept for watches and paged lists, unless
                                   it is compacted before
`;
