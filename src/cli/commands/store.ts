import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError } from '../../options/command-error.ts';
import { stopOnSignals } from '../../server/lifecycle.ts';
import { openEmbeddedEngine } from '../../storage/engines/embedded.ts';
import type { LocalEngine } from '../../storage/engines/local-engine.ts';
import { openMemoryEngine } from '../../storage/engines/memory.ts';
import { startEtcdServer } from '../../storage/etcd-server/server.ts';
import { onAbort } from '../../util/on-abort.ts';
import type { Output } from '../command.ts';
import { collectAlone, collectSeldom } from '../garbage-collection.ts';
import { giveBackWhenIdle } from '../idle-memory.ts';
import { noArguments, readOwnFlags } from './own-flags.ts';
import { openStoreTls } from './store-tls.ts';

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
  noArguments('binnacle store', positionals);
  const maxRequestBytes = numberOf('max-request-bytes', values['max-request-bytes']);
  const historyBytes = numberOf('history-bytes', values['history-bytes']);
  const listenUrls = String(values['listen-client-urls']).split(',');
  const secured = openStoreTls(values, (error) => output.stderr(`certificates that changed cannot be used, the old ones stay: ${error.message}\n`));
  const stopSignal = stopOnSignals();
  const engine = await openEngine(values['memory'] === true, String(values['data-dir']), historyBytes);
  try {
    const server = await startEtcdServer({
      engine,
      listenUrls,
      ...(secured && { tls: secured.tls, checkClient: secured.checkClient }),
      maxRequestBytes,
      ...(values['memory'] !== true && { snapshotFolder: resolve(String(values['data-dir'])) }),
      onViolation: (message) => output.stderr(`a client was cut off: ${message}\n`),
    });
    collectAlone();
    collectSeldom();
    giveBackWhenIdle();
    output.stderr(`etcd's API is served at ${server.urls.join(', ')}\n`);
    await new Promise<void>((stopped) => onAbort(stopSignal, stopped));
    await server.close();
  } finally {
    secured?.close();
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

function numberOf(name: string, value: string | boolean | undefined): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number <= 0) throw new CommandError(`--${name} takes a number of bytes, not ${JSON.stringify(value)}`);
  return number;
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
      --cert-file, --key-file      the server's certificate; read again when the files change, as is the next
      --trusted-ca-file            clients must have a certificate that one in this file has signed
      --client-cert-auth           the same, as etcd has this flag: it needs that file
      --max-request-bytes 1572864  the largest write, as of etcd
      --history-bytes 67108864     how much of the past is kept for watches and paged lists, unless
                                   it is compacted before
`;
