import { delay } from '../util/delay.ts';
import type { ClusterClient } from './cluster-client.ts';
import { discoverResources } from './cluster-resources.ts';
import type { RecordedResource } from './flight-format.ts';
import type { FlightWriter } from './flight-writer.ts';
import { ResourceRecorder } from './resource-recorder.ts';

/** Resources come with definitions, which are seen at once, and with aggregated servers, which are asked for. */
const DISCOVERY_INTERVAL_MS = 30_000;
/** A definition is served a moment after it was made. */
const SETTLING_MS = 1_000;
const FLUSH_INTERVAL_MS = 1_000;
const LISTS_AT_ONCE = 4;

/** Whose changes mean that there are other resources. */
const MAKES_RESOURCES = new Set(['customresourcedefinitions.apiextensions.k8s.io', 'apiservices.apiregistration.k8s.io']);

interface ClusterRecorderParts {
  client: ClusterClient;
  writer: FlightWriter;
  isWanted: (resource: RecordedResource) => boolean;
  now: () => number;
  onProblem: (message: string) => void;
}

/** Records every resource of a cluster that may be listed and watched, as resources come and go. */
export class ClusterRecorder {
  readonly #parts: ClusterRecorderParts;
  readonly #recorders = new Map<string, ResourceRecorder>();
  readonly #turns = new Turns(LISTS_AT_ONCE);
  #discoverAgain: () => void = () => undefined;

  constructor(parts: ClusterRecorderParts) {
    this.#parts = parts;
  }

  get resourceCount(): number {
    return this.#recorders.size;
  }

  /** Until `signal` is aborted. `onListed` is called once every resource that there is at first has been listed, and that is on disk. Rejects where the file cannot be written. */
  async run(signal: AbortSignal, onListed: () => void): Promise<void> {
    const flushing = this.#flushUntil(signal);
    flushing.catch(() => undefined);
    await this.#discover(signal);
    void this.#whenListed(onListed);
    await Promise.race([flushing, this.#discoverUntil(signal)]);
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.stop({ isGone: false })));
    await this.#parts.writer.close();
  }

  async #whenListed(onListed: () => void): Promise<void> {
    const { writer, now } = this.#parts;
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.listed));
    writer.began(now());
    // What cannot be written ends the recording: `run` tells of it.
    await writer.flush().then(onListed, () => undefined);
  }

  async #discoverUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const asked = new Promise<void>((resolve) => (this.#discoverAgain = resolve)).then(() => delay(SETTLING_MS, signal));
      await Promise.race([asked, delay(DISCOVERY_INTERVAL_MS, signal)]);
      if (!signal.aborted) await this.#discover(signal).catch((error: Error) => this.#parts.onProblem(error.message));
    }
  }

  async #discover(signal: AbortSignal): Promise<void> {
    const found = new Map<string, RecordedResource>();
    for (const resource of await discoverResources(this.#parts.client, signal)) {
      if (this.#parts.isWanted(resource)) found.set(idOf(resource), resource);
    }
    const plurals = new Set([...found.values()].map(pluralOf));
    for (const [id, recorder] of this.#recorders) {
      if (found.has(id)) continue;
      this.#recorders.delete(id);
      // The objects of a resource that is preferred in another version now are still there.
      await recorder.stop({ isGone: !plurals.has(pluralOf(recorder.resource)) });
    }
    for (const [id, resource] of found) if (!this.#recorders.has(id)) this.#start(id, resource);
  }

  #start(id: string, resource: RecordedResource): void {
    const makesResources = MAKES_RESOURCES.has(`${resource.plural}.${resource.group}`);
    const recorder = new ResourceRecorder({
      ...this.#parts,
      resource,
      takeTurn: (list) => this.#turns.run(list),
      onChange: () => makesResources && this.#discoverAgain(),
    });
    this.#recorders.set(id, recorder);
    recorder.start();
  }

  async #flushUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(FLUSH_INTERVAL_MS, signal);
      await this.#parts.writer.flush();
    }
  }
}

/** Another version of the same resource is another recording of it. */
const idOf = ({ group, version, plural }: RecordedResource): string => `${group}/${version}/${plural}`;

const pluralOf = ({ group, plural }: RecordedResource): string => `${group}/${plural}`;

/** Lets only so many run at once; the others wait in their order. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
