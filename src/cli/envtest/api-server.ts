import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseFlags } from '../../options/flags/parser.ts';
import type { Output } from '../command.ts';
import { ENVTEST_PATH } from './etcd.ts';
import { stopWithParent } from './parent.ts';

const ASK_TIMEOUT_MS = 5_000;
const ANSWER_LIMIT_BYTES = 1_024;

/**
 * The kube-apiserver of envtest, with the flags that envtest gives it. Where the etcd that they name is the one of the same folder, objects are kept in
 * memory; any other etcd is used as ever.
 */
export async function runApiServer(args: readonly string[], output: Output, serve: (args: readonly string[]) => Promise<void>): Promise<void> {
  const { options, given } = parseFlags(args);
  const [etcd] = options.etcdServers;
  if (options.help || options.version !== 'false' || given.has('storage-backend') || etcd === undefined) return serve(args);
  const apiServersBefore = await askEtcd(etcd);
  const stopWatching = stopWithParent();
  if (apiServersBefore === undefined) return serve(args).finally(stopWatching);
  if (apiServersBefore > 0) {
    output.stderr('warning: an API server has run on this etcd before; it kept its objects in its own memory, and this one begins with none\n');
  }
  // Whatever the server makes for itself goes where envtest keeps its certificates, a folder that it removes.
  const temporaryDir = given.has('cert-dir') ? undefined : mkdtempSync(join(tmpdir(), 'binnacle-envtest-'));
  try {
    await serve(['--storage-backend=memory', `--data-dir=${temporaryDir ?? options.certDir}`, ...args]);
  } finally {
    stopWatching();
    if (temporaryDir !== undefined) rmSync(temporaryDir, { recursive: true, force: true });
  }
}

/** How many API servers have asked this etcd before; undefined where it is another kind of etcd, or cannot be reached. */
function askEtcd(etcdUrl: string): Promise<number | undefined> {
  if (!URL.canParse(ENVTEST_PATH, etcdUrl) || !etcdUrl.startsWith('http://')) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const request = get(new URL(ENVTEST_PATH, etcdUrl), { timeout: ASK_TIMEOUT_MS, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part).length > ANSWER_LIMIT_BYTES && response.destroy());
      response.once('close', () => resolve(response.statusCode === 200 ? countOf(text) : undefined));
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
  });
}

function countOf(text: string): number | undefined {
  try {
    const { apiServersBefore } = JSON.parse(text) as { apiServersBefore?: unknown };
    return typeof apiServersBefore === 'number' ? apiServersBefore : undefined;
  } catch {
    return undefined;
  }
}
