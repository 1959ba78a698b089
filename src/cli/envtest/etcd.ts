import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { CommandError } from '../../options/command-error.ts';
import { stopOnSignals } from '../../server/lifecycle.ts';
import { onAbort } from '../../util/on-abort.ts';
import type { Output } from '../command.ts';
import { stopWithParent } from './parent.ts';

/** Where an API server of the same folder asks whether this is the etcd that keeps nothing. The answer counts who has asked. */
export const ENVTEST_PATH = '/binnacle/envtest';

/** What a client is told that this is; no client of envtest reads more of it than that there is one. */
const ETCD_VERSION = { etcdserver: '3.6.0', etcdcluster: '3.6.0' };

/**
 * The etcd of envtest: it answers the health check that envtest waits for, and an API server that asks whether it may keep its objects in memory. It stores
 * nothing, and answers nothing else.
 */
export async function runEtcd(args: readonly string[], output: Output): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return output.stdout(HELP);
  if (args.includes('--version')) return output.stdout(`etcd Version: ${ETCD_VERSION.etcdserver} (binnacle envtest)\n`);
  const { urls } = parseFlags(args);
  const stopSignal = stopOnSignals();
  const stopWatching = stopWithParent();
  const answer = answers();
  const servers = await Promise.all(urls.map((url) => listen(url, answer)));
  await new Promise<void>((stopped) => onAbort(stopSignal, stopped));
  stopWatching();
  for (const server of servers) server.close().closeAllConnections();
}

function answers(): (request: IncomingMessage, response: ServerResponse) => void {
  let apiServerCount = 0;
  const bodies: Record<string, () => unknown> = {
    '/health': () => ({ health: 'true', reason: '' }),
    '/version': () => ETCD_VERSION,
    [ENVTEST_PATH]: () => ({ apiServersBefore: apiServerCount++ }),
  };
  return ({ url = '/' }, response) => {
    const body = bodies[url.split('?', 1)[0]!];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ? body() : { error: 'this etcd belongs to binnacle envtest: it has no objects' }));
  };
}

const listen = ({ hostname, port }: URL, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<ReturnType<typeof createServer>> =>
  new Promise((resolve, reject) => {
    const server = createServer(answer);
    server.once('error', ({ code }: NodeJS.ErrnoException) => reject(new CommandError(`cannot listen on ${hostname}:${port}: ${code}`)));
    server.listen(Number(port), hostname.replace(/^\[(.*)\]$/, '$1'), () => resolve(server));
  });

const HELP = `The etcd of \`binnacle envtest\`: it answers health checks, and stores nothing.

Usage:
  etcd [flags]

Flags:
  --listen-client-urls 'http://localhost:2379'
    	comma-separated; any other flag of etcd is accepted, and changes nothing.
`;

const DEFAULT_URL = 'http://localhost:2379';
const LISTEN_FLAG = /^--?listen-client-urls(?:=(.*))?$/;

/** Of etcd's flags, the one that has a meaning where nothing is stored. All others are about the store. */
function parseFlags(args: readonly string[]): { urls: URL[] } {
  const index = args.findLastIndex((arg) => LISTEN_FLAG.test(arg));
  const value = index < 0 ? DEFAULT_URL : (LISTEN_FLAG.exec(args[index]!)![1] ?? args[index + 1] ?? '');
  return { urls: value.split(',').map(listenUrl) };
}

function listenUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.protocol !== 'http:' || url.port === '') {
    throw new CommandError(`--listen-client-urls takes http URLs with ports, not ${JSON.stringify(text)}: the etcd of binnacle envtest serves no TLS`);
  }
  return url;
}
