import { openSync, readSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createServer } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the server (NODE_OPTIONS=--import): measures from inside how much CPU its thread takes between two turns of the event loop, and collects
 * garbage when asked. A timer of a millisecond fires in the first turn after it: between two of its calls lies one turn, or several that together took less
 * than a millisecond more. With STALLS_PROFILE=1 the answer says where the longest turn was spent.
 */

const MS = 1e6;
const isProfiled = process.env['STALLS_PROFILE'] === '1';

/** Milliseconds that this thread has been running; those of the clock where the platform does not tell. */
function makeCpuMs() {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const text = Buffer.alloc(64);
    return () => {
      readSync(file, text, 0, text.length, 0);
      return Number(text.toString('latin1', 0, text.indexOf(0x20))) / MS;
    };
  } catch {
    return () => performance.now();
  }
}

const cpuMs = makeCpuMs();
/** By the clock that the profiler has. */
const clockMs = () => Number(process.hrtime.bigint()) / MS;
let beforeMs = 0;
let longest = { cpuMs: 0, endedAtMs: 0, wallMs: 0 };
let timer;
let beganAtMs = 0;

function turn() {
  const nowMs = cpuMs();
  const atMs = clockMs();
  if (nowMs - beforeMs > longest.cpuMs) longest = { cpuMs: nowMs - beforeMs, endedAtMs: atMs, wallMs: atMs - beganAtMs };
  beforeMs = nowMs;
  beganAtMs = atMs;
  timer = setTimeout(turn, 1);
}

function begin() {
  clearTimeout(timer);
  beforeMs = cpuMs();
  beganAtMs = clockMs();
  longest = { cpuMs: 0, endedAtMs: 0, wallMs: 0 };
  turn();
}

function end() {
  clearTimeout(timer);
  return longest;
}

let collect;

/** Bytes that are in use when all garbage is gone. */
function usedBytes() {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('gc');
  collect();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  return { heapUsed, external, arrayBuffers, rss };
}

const GC_KINDS = { 1: 'scavenge', 2: 'minor mark-compact', 4: 'mark-compact', 8: 'incremental', 16: 'weak' };

/** Collections of garbage, by the clock that the profiler has. */
class Collections {
  #found = [];
  #offsetMs = clockMs() - performance.now();
  #observer = new PerformanceObserver((list) => this.#keep(list));
  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }
  #keep(list) {
    for (const { startTime, duration, detail } of list.getEntries()) this.#found.push({ atMs: startTime + this.#offsetMs, duration, kind: detail.kind });
  }
  begin() {
    this.#found = [];
  }
  between(fromMs, toMs) {
    this.#keep({ getEntries: () => this.#observer.takeRecords() });
    const told = this.#found.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs).map(({ duration, kind }) => `${GC_KINDS[kind]} ${duration.toFixed(0)} ms`);
    return told.join(', ');
  }
}

/** Samples of the profiler, of which the longest turn's are told. */
class Profiler {
  #session = new Session();
  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.setSamplingInterval', { interval: 500 });
  }
  begin() {
    this.#session.post('Profiler.start');
  }
  end({ endedAtMs, wallMs }) {
    let found;
    this.#session.post('Profiler.stop', (_error, { profile }) => (found = profile));
    return hottest(found, endedAtMs - wallMs, endedAtMs);
  }
}

/** The functions that were found running, and those that had called them, of the samples between two times. */
function hottest({ nodes, samples, timeDeltas, startTime }, fromMs, toMs) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const own = new Map();
  const all = new Map();
  let at = startTime;
  let count = 0;
  for (const [index, id] of samples.entries()) {
    at += timeDeltas[index];
    const ms = at / 1_000;
    if (ms < fromMs || ms > toMs) continue;
    count++;
    const seen = new Set();
    for (let node = id; node !== undefined; node = parents.get(node)) {
      const { functionName, lineNumber } = byId.get(node).callFrame;
      const name = functionName || `(anonymous:${lineNumber})`;
      if (node === id) own.set(name, (own.get(name) ?? 0) + 1);
      if (!seen.has(name)) all.set(name, (all.get(name) ?? 0) + 1);
      seen.add(name);
    }
  }
  const shares = (counts, limit) =>
    [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, limit)
      .map(([name, hits]) => `${name} ${Math.round((hits / count) * 100)}%`)
      .join(', ');
  return `self: ${shares(own, 12)}\n      total: ${shares(all, 40)}`;
}

const collections = new Collections();
const profiler = isProfiled ? new Profiler() : undefined;

const commands = {
  begin() {
    collections.begin();
    profiler?.begin();
    begin();
    return {};
  },
  end() {
    const { cpuMs: longestMs, ...times } = end();
    const profile = profiler?.end(times);
    return { cpuMs: longestMs, profile, collected: collections.between(times.endedAtMs - times.wallMs, times.endedAtMs) };
  },
  memory: usedBytes,
};

if (isMainThread && process.env['STALLS_SOCKET'] !== undefined) {
  const server = createServer((socket) => {
    socket.setEncoding('utf8').on('data', (text) => {
      for (const command of text.trim().split('\n')) socket.write(`${JSON.stringify(commands[command]())}\n`);
    });
    socket.on('error', () => {});
  });
  server.listen(process.env['STALLS_SOCKET']).unref();
}
