import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, TestEvent, TestList, WatchReader } from '../support/api-client.ts';
import { COLLECTION, type Acknowledged, knownOf } from './recorder.ts';

interface Seen {
  version: number;
  type: TestEvent['type'];
  key: string;
  id: string;
}

const PAUSE_MS = 20;
const REACHED_WITHIN_MS = 60_000;

/**
 * A client that follows the collection as controllers do: it lists, watches from the list's version, and goes on from the last event when the watch ends;
 * only when it is told 410 it lists anew. What it is shown is checked as it comes; `assertComplete` checks that nothing was left out.
 */
export class Follower {
  /** Events by version. */
  readonly #seen = new Map<number, Seen>();
  /** Versions of changes from here to there were not shown, but the list that followed tells their outcome. */
  readonly #listed: { after: number; upTo: number }[] = [];
  readonly #current = new Map<string, string>();
  readonly faults: string[] = [];
  #version = 0;
  #client: ApiClient;
  #watch: WatchReader | undefined;
  #isOver = false;
  #done: Promise<void>;

  /** How often it had to list. */
  get lists(): number {
    return this.#listed.length;
  }

  constructor(client: ApiClient) {
    this.#client = client;
    this.#done = this.#follow();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#watch?.stop();
    await this.#done;
  }

  /** Until it has got to this version; throws when that takes too long. */
  async reached(version: number): Promise<void> {
    const deadlineMs = performance.now() + REACHED_WITHIN_MS;
    while (this.#version < version) {
      if (performance.now() > deadlineMs) throw new Error(`the follower is at version ${this.#version}, and does not get to ${version}`);
      await delay(PAUSE_MS);
    }
  }

  /** Every acknowledged write was shown, with the version that it was answered with, or lies in the time that a list stands for. */
  assertComplete(acknowledged: readonly Acknowledged[]): void {
    for (const { key, id, version } of acknowledged) {
      const seen = this.#seen.get(version);
      const isListed = this.#listed.some(({ after, upTo }) => version > after && version <= upTo);
      if (seen ? seen.key !== key || seen.id !== id : !isListed)
        this.faults.push(`${key} ${id} at ${version} was shown as ${seen ? JSON.stringify(seen) : 'nothing'}`);
    }
    if (this.faults.length > 0) throw new Error(`the watch is wrong:\n${this.faults.slice(0, 20).join('\n')}`);
  }

  async #follow(): Promise<void> {
    let mustList = true;
    while (!this.#isOver) {
      try {
        if (mustList) await this.#list();
        mustList = false;
        mustList = await this.#watchOn();
      } catch {
        // The server is gone for a moment.
        await delay(PAUSE_MS);
      }
    }
  }

  async #list(): Promise<void> {
    const list = await this.#client.get<TestList>(COLLECTION);
    const version = Number(list.metadata.resourceVersion);
    if (version < this.#version) this.faults.push(`a list at ${version} after version ${this.#version} was shown`);
    this.#listed.push({ after: this.#version, upTo: version });
    this.#current.clear();
    for (const item of list.items.filter(({ data }) => data?.['id'] !== undefined)) this.#current.set(item.metadata.name, knownOf(item).id);
    this.#version = version;
  }

  /** True when history is gone. */
  async #watchOn(): Promise<boolean> {
    this.#watch = await this.#client.watch(`${COLLECTION}?watch=true&allowWatchBookmarks=true&resourceVersion=${this.#version}`);
    for (let event = await this.#watch.next(); event !== undefined; event = await this.#watch.next()) {
      if (event.type === 'ERROR' && event.object.code === 410) return true;
      if (event.type === 'ERROR') return false;
      this.#take(event);
    }
    return false;
  }

  #take({ type, object }: TestEvent): void {
    const version = Number(object.metadata.resourceVersion);
    if (type === 'BOOKMARK') {
      if (version < this.#version) this.faults.push(`a bookmark of ${version} after version ${this.#version}`);
      this.#version = Math.max(this.#version, version);
      return;
    }
    if (object.data?.['id'] === undefined) return void (this.#version = Math.max(this.#version, version));
    const { name } = object.metadata;
    const { id } = knownOf(object);
    if (version <= this.#version) this.faults.push(`${type} ${name} at ${version} after version ${this.#version}`);
    if ((type === 'ADDED') === this.#current.has(name))
      this.faults.push(`${type} ${name} at ${version} where it ${this.#current.has(name) ? 'was' : 'was not'} there`);
    if (type === 'DELETED') this.#current.delete(name);
    else this.#current.set(name, id);
    if (type !== 'DELETED') this.#seen.set(version, { version, type, key: name, id });
    this.#version = version;
  }
}
