import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FactFiles, printJson, printLines } from './print.ts';
import { emulatedVersions, flagsOf, gatesOf } from './server/help.ts';
import { connect } from './server/connection.ts';
import { readDefaultServer, readEmulated, readFlagNames, readOptionalVersions, readSeenMetrics, type ServerFacts } from './server/read.ts';
import { admissionSeries, countScriptedRequests } from '../../test/oracle/scripted-requests.mjs';
import { type Programs, REFERENCE_TOKEN, startReference } from './server/reference.ts';
import { disagreements } from './tree/gate-agreement.ts';
import type { Gates } from './tree/feature-gates.ts';
import { publishedDocuments } from './tree/published.ts';
import { minorVersionOf, readTree } from './tree/read.ts';

/*
 * npm run facts:record -- [--from URL [--token TOKEN]] [--binary KUBE_APISERVER --etcd ETCD] [--tree KUBERNETES] [--replay] --out facts/v1.37 [--check]
 *
 * Reads the facts of one version of Kubernetes into a folder; docs/upgrading.md says how the three sources go together. With `--check` nothing is written:
 * it says where the folder differs from what was read, and ends with 1 where it does.
 */

/** All versions on. CBOR would add media types to every operation, which the default server does not have. */
const ALL_VERSIONS = ['--runtime-config=api/all=true', '--feature-gates=AllAlpha=true,AllBeta=true,CBORServingAndStorage=false'];

const { values: options } = parseArgs({
  options: {
    from: { type: 'string' },
    token: { type: 'string', default: REFERENCE_TOKEN },
    binary: { type: 'string' },
    etcd: { type: 'string' },
    tree: { type: 'string' },
    replay: { type: 'boolean', default: false },
    out: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function record(): Promise<FactFiles> {
  const { from, token, binary, etcd, tree } = options;
  const files: FactFiles = new Map();
  const add = (more: FactFiles): void => more.forEach((text, path) => files.set(path, text));
  const sources: Record<string, string> = {};
  const programs = binary !== undefined && etcd !== undefined ? { apiserver: binary, etcd } : undefined;
  const server = from !== undefined ? await readServer(from, token) : programs && (await readOwnServer(programs));
  const gates: { ofServer?: Gates; ofHelp?: Gates } = {};
  if (server) {
    add(server.files);
    gates.ofServer = server.gates;
    sources['documents'] = 'server';
  }
  let optional: ServerFacts | undefined;
  if (programs) {
    const help = execFileSync(programs.apiserver, ['--help'], { encoding: 'utf8', maxBuffer: 1 << 26 });
    files.set('flags.json', printJson(flagsOf(help), 2));
    gates.ofHelp = gatesOf(help);
    if (server) optional = await readWith(programs, ALL_VERSIONS, (reference) => readOptionalVersions(reference.connection, server));
    if (optional) add(optional.files);
    files.set('emulated-versions.json', printJson(await readEmulatedVersions(programs, emulatedVersions(help)), 3));
  }
  if (server) files.set('table-columns.json', printLines(sorted({ ...server.columns, ...optional?.columns })));
  if (tree !== undefined) {
    if (!server) {
      add(publishedDocuments(tree));
      sources['documents'] = 'tree';
    }
    const read = readTree(tree, groupVersionsIn(files), (found) => checkGates(found, gates));
    add(read.files);
    for (const folder of read.missing) say(`facts/upstream-paths.json names ${folder}, which the tree does not have`);
  } else if (gates.ofServer) files.set('feature-gates.json', printLines(gates.ofServer as Record<string, unknown>));
  if (files.size === 0) throw new Error('nothing to read: give --from, --binary with --etcd, or --tree');
  files.set('about.json', printJson({ kubernetes: await versionOf(programs), ...sources }));
  return files;
}

async function readServer(url: string, token: string): Promise<ServerFacts> {
  say(`reading ${url}`);
  const connection = connect(url, token);
  const facts = await readDefaultServer(connection);
  facts.files.set('flagz.json', await readFlagNames(connection));
  if (options.replay) {
    replayCorpus(url);
    facts.files.set('metrics-seen.json', await readSeenMetrics(connection));
    facts.files.set('request-counts.json', printLines(await countScriptedRequests(url)));
    facts.files.set('admission-series.json', printLines(await admissionSeries(url)));
  }
  return facts;
}

const readOwnServer = (programs: Programs): Promise<ServerFacts> => readWith(programs, [], ({ url }) => readServer(url, REFERENCE_TOKEN));

async function readWith<T>(
  programs: Programs,
  flags: readonly string[],
  read: (reference: Awaited<ReturnType<typeof startReference>>) => Promise<T>,
): Promise<T> {
  say(`starting ${programs.apiserver} ${flags.join(' ')}`);
  const reference = await startReference(programs, flags);
  try {
    return await read(reference);
  } finally {
    await reference[Symbol.asyncDispose]();
  }
}

async function readEmulatedVersions(programs: Programs, versions: readonly string[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const version of versions) found[version] = await readWith(programs, [`--emulated-version=${version}`], ({ connection }) => readEmulated(connection));
  return found;
}

/** Sends the server all that test/oracle has recorded, so that its metrics show what they have. How it answers is of no interest here. */
function replayCorpus(url: string): void {
  say('replaying test/oracle/corpus');
  execFileSync(process.execPath, ['test/oracle/replay.mjs', '--server', url, '--show', '0'], { stdio: 'ignore' });
}

/** The tree tells all of a gate; what a server and its help tell must be the same. */
function checkGates(found: Gates, { ofServer, ofHelp }: { ofServer?: Gates; ofHelp?: Gates }): void {
  const problems = [...(ofServer ? disagreements(found, ofServer, 'the server') : []), ...(ofHelp ? disagreements(found, ofHelp, '--help') : [])];
  if (problems.length > 0) throw new Error(`feature gates of the tree differ from what runs:\n  ${problems.join('\n  ')}`);
}

/** `apps/v1`, by the discovery documents that were read. */
function groupVersionsIn(files: FactFiles): Set<string> {
  const lists = [...files].filter(([path]) => /(^|\/)discovery\/apis?__.*v\d\w*\.json$/.test(path));
  return new Set(lists.map(([, text]) => (JSON.parse(text) as { groupVersion: string }).groupVersion));
}

async function versionOf(programs: Programs | undefined): Promise<string> {
  if (options.from !== undefined) return (await connect(options.from, options.token).json<{ gitVersion: string }>('/version')).gitVersion;
  if (programs) return execFileSync(programs.apiserver, ['--version'], { encoding: 'utf8' }).trim().replace('Kubernetes ', '');
  return `v${minorVersionOf(options.tree!)}`;
}

const sorted = (table: Record<string, unknown>): Record<string, unknown> => Object.fromEntries(Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Paths of the folder that differ from what was read. A file that this run had no source for is not looked at. */
function differing(folder: string, files: FactFiles): string[] {
  return [...files].filter(([path, text]) => !existsSync(join(folder, path)) || readFileSync(join(folder, path), 'utf8') !== text).map(([path]) => path);
}

/** Files of folders that were read anew and are no longer there. */
function stale(folder: string, files: FactFiles): string[] {
  const folders = new Set([...files.keys()].map((path) => dirname(path)).filter((path) => path !== '.'));
  return [...folders].flatMap((path) => {
    const there = existsSync(join(folder, path)) ? readdirSync(join(folder, path), { withFileTypes: true }).filter((entry) => entry.isFile()) : [];
    return there.map(({ name }) => `${path}/${name}`).filter((file) => !files.has(file));
  });
}

const { out } = options;
if (out === undefined) throw new Error('--out says where the facts go: --out facts/v1.37');
const files = await record();
if (options.check) {
  const problems = [...differing(out, files).map((path) => `differs: ${path}`), ...stale(out, files).map((path) => `no longer there: ${path}`)];
  for (const problem of problems) console.log(problem);
  console.log(`${files.size} files read, ${problems.length} differ from ${out}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  for (const path of stale(out, files)) rmSync(join(out, path));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  }
  console.log(`${files.size} files written to ${out}`);
}
