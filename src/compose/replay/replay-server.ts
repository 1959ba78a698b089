import { join } from 'node:path';
import type { CustomResourceDefinition } from '../../apis/facts/types/apiextensions-v1.ts';
import { isJsonObject } from '../../encoding/json.ts';
import type { RecordedResource } from '../../history/flight-format.ts';
import type { Timeline, TimelineChange } from '../../history/history-source.ts';
import type { CompletedOptions } from '../../options/completion.ts';
import { ReplayedEngine } from '../../storage/engines/replayed.ts';
import { delay } from '../../util/delay.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { prepareCluster } from '../cluster.ts';
import { writePrivately } from '../files.ts';
import { createLogger } from '../logger.ts';
import { SharedFolder } from '../shared-folder.ts';
import { startChain } from '../start.ts';
import type { Replay } from './replay.ts';
import { ReplayedResources, nameOf, syntheticDefinition, withoutConverter } from './replayed-resources.ts';

interface ReplayOptions {
  /** 0: any free one. */
  port: number;
  /** How many seconds of the recording pass in one; 0: the moment stays. */
  speed: number;
  /** Called with each change as it is played. */
  onPlayed?: (timeMs: number) => void;
}

export interface ReplayServer {
  url: string;
  kubeconfigFile: string;
  /** Resolves when all was played that there is, or the server stops. */
  played: Promise<void>;
  stop(): Promise<void>;
}

/** Serves the cluster of a moment, read-only, and lets time pass from there where `speed` says so. The timeline is closed with it. */
export async function startReplay(timeline: Timeline, { port, speed, onPlayed }: ReplayOptions): Promise<ReplayServer> {
  const folder = new SharedFolder();
  try {
    const cluster = prepareCluster([], replayFlags(folder.path, port));
    const options = withVersionOf(cluster.options, timeline.cluster.gitVersion);
    const stores = await fillStores(timeline, options);
    const passage = new Passage(timeline.atMs, speed);
    const logger = createLogger({ format: 'text', verbosity: 0, minimumSeverity: 'error' });
    const server = await startChain(options, logger, undefined, { replay: replayOf(timeline, stores, passage) });
    await server.ready;
    const kubeconfigFile = join(folder.path, 'kubeconfig');
    writePrivately(kubeconfigFile, cluster.adminKubeconfig(server.url));
    const stop = new AbortController();
    passage.start();
    const played = speed > 0 ? play(timeline, stores, passage, stop.signal, onPlayed) : Promise.resolve();
    return {
      url: server.url,
      kubeconfigFile,
      played,
      async stop() {
        stop.abort();
        await played.catch(() => undefined);
        await server.stop();
        await timeline.close();
        folder.release();
      },
    };
  } catch (error) {
    folder.release();
    throw error;
  }
}

/** RBAC as it was recorded, so that `kubectl auth can-i --as` answers for then; the administrator of the kubeconfig may read everything. */
const replayFlags = (dataDir: string, port: number) => ({
  'data-dir': dataDir,
  'storage-backend': 'memory',
  'bind-address': '127.0.0.1',
  'secure-port': String(port),
  'authorization-mode': 'RBAC',
  'enable-priority-and-fairness': 'false',
  'endpoint-reconciler-type': 'none',
});

/** `/version` tells what the recorded server told. */
const withVersionOf = (options: CompletedOptions, gitVersion: string): CompletedOptions =>
  /^v\d+\.\d+/.test(gitVersion) ? { ...options, kubernetesVersion: gitVersion } : options;

function replayOf({ cluster, atMs }: Timeline, { engine, apart, resources, versions }: FilledStores, passage: Passage): Replay {
  const engines = [engine, ...apart.values()];
  return {
    storage: { engine, overrides: apart, close: async () => void (await Promise.all(engines.map((each) => each.close()))) },
    definitions: resources.synthetic,
    asServed: (crd) => withoutConverter(crd, versions.get(`${crd.spec.group}/${crd.spec.names.plural}`)),
    now: () => new Date(passage.nowMs()),
    refusal: `this is ${cluster.server} as it was at ${new Date(atMs).toISOString()}: a recording can be read, and nothing else`,
  };
}

interface FilledStores {
  engine: ReplayedEngine;
  /** By `group/plural`, as OpenStorage has them. */
  apart: ReadonlyMap<string, ReplayedEngine>;
  places: ReplayedResources;
  resources: { synthetic: CustomResourceDefinition[] };
  /** The version that was recorded of each. */
  versions: ReadonlyMap<string, string>;
}

async function fillStores(timeline: Timeline, options: CompletedOptions): Promise<FilledStores> {
  const places = new ReplayedResources(options, timeline.resources);
  const values = new Map<RecordedResource | undefined, { key: string; value: Buffer; revision: number }[]>([[undefined, []]]);
  const apartOf = new Map<string, RecordedResource>();
  for (const resource of timeline.resources.filter(timeline.isApart)) {
    apartOf.set(nameOf(resource), resource);
    values.set(resource, []);
  }
  const slice = new TimeSlice();
  const defined = new Set<string>();
  for (const { resource, key, object, revision } of timeline.objects) {
    const at = places.keyOf(resource, key);
    if (at !== undefined) values.get(apartOf.get(nameOf(resource)))!.push({ key: at, value: places.valueOf(resource, object), revision });
    if (resource.plural === 'customresourcedefinitions') defined.add(key);
    if (slice.isSpent) await slice.next();
  }
  const main = timeline.resources.find((resource) => !timeline.isApart(resource));
  return {
    engine: new ReplayedEngine(values.get(undefined)!, main ? timeline.revisionOf(main) : 1),
    apart: new Map([...apartOf].map(([name, resource]) => [name, new ReplayedEngine(values.get(resource)!, timeline.revisionOf(resource))])),
    places,
    resources: { synthetic: places.undefinedAmong(timeline.resources, defined).map(syntheticDefinition) },
    versions: new Map(timeline.resources.map((resource) => [nameOf(resource), resource.version])),
  };
}

/** How the time of the recording passes. */
class Passage {
  readonly #fromMs: number;
  readonly #speed: number;
  #startedMs: number | undefined;

  constructor(fromMs: number, speed: number) {
    this.#fromMs = fromMs;
    this.#speed = speed;
  }

  start(): void {
    this.#startedMs = performance.now();
  }

  nowMs(): number {
    return this.#fromMs + (this.#startedMs === undefined ? 0 : (performance.now() - this.#startedMs) * this.#speed);
  }

  untilMs(timeMs: number): number {
    return (timeMs - this.nowMs()) / this.#speed;
  }
}

async function play(
  timeline: Timeline,
  { engine, apart, places }: FilledStores,
  passage: Passage,
  signal: AbortSignal,
  onPlayed: ReplayOptions['onPlayed'],
): Promise<void> {
  const slice = new TimeSlice();
  for await (const change of timeline.changes()) {
    for (let waitMs = passage.untilMs(change.timeMs); waitMs > 0 && !signal.aborted; waitMs = passage.untilMs(change.timeMs)) await delay(waitMs, signal);
    if (signal.aborted) return;
    playOne(change, apart.get(nameOf(change.resource)) ?? engine, places);
    onPlayed?.(change.timeMs);
    if (slice.isSpent) await slice.next();
  }
}

function playOne({ resource, key, object, revision }: TimelineChange, engine: ReplayedEngine, places: ReplayedResources): void {
  const at = places.keyOf(resource, key);
  if (at !== undefined) engine.play(at, object && isJsonObject(object) ? places.valueOf(resource, object) : undefined, revision);
}
