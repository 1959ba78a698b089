import { tooLargeResourceVersion } from '../../api/errors.ts';
import { type Clock, type Timer, systemClock } from '../../util/clock.ts';
import { type Engine, StoreReset, type StoredEvent, type Subscription } from '../engine.ts';
import { PrefixIndex } from '../prefix-index.ts';
import type { CacheImage } from './image.ts';

/** A cache, as the feed sees it. */
export interface FeedRoute {
  /** Takes the change in; true when there is something to announce. */
  apply(event: StoredEvent): boolean;
  /** Tells watchers what was taken in. */
  announce(): void;
  /** The feed has a gap: what was taken in may be out of date until `load` has resolved. Ends all watches. */
  interrupt(error: Error): void;
  /** The store was taken to another state: takes in what differs, and ends the watches of those who do not follow it there. */
  reset(events: readonly StoredEvent[], reset: StoreReset): void;
  /** Takes the state from the engine, unless that was done since the last interruption. */
  load(): Promise<void>;
}

interface Waiter {
  revision: number;
  resolve: () => void;
}

interface FeedOptions {
  /** Only changes of keys that start so are of interest to anybody. */
  prefix?: string;
  clock?: Clock;
  /** Requests are held up by `catchUp` before anything is looked at for them: reading need not ask again. */
  catchesUpFirst?: boolean;
  /** The newest revision that anybody was told of, where it is known without a question to the engine. */
  readRevision?: (() => number) | undefined;
  /** What caches begin with, by prefix: the engine's first state. */
  images?: ReadonlyMap<string, CacheImage> | undefined;
}

/** Upstream's blockTimeout (apiserver/pkg/storage/cacher/watch_cache.go). */
const WAIT_MS = 3_000;
const RETRY_MS = 1_000;
/** What somebody waits for mostly is on its way; when it is not there so soon, the engine is asked for its progress, and again (upstream: progress_requester.go). */
const FIRST_PROGRESS_MS = 10;
const NEXT_PROGRESS_MS = 100;

/**
 * One watch on the engine for all caches, which routes each change to its cache by the prefix of its key, and knows how far all of them are.
 * When the engine loses the thread (Compacted), caches are loaded anew, and nobody is told that they have reached a revision before they have.
 */
export class CacheFeed {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly #prefix: string;
  readonly #catchesUpFirst: boolean;
  readonly #readRevision: (() => number) | undefined;
  readonly #routes = new PrefixIndex<FeedRoute>();
  readonly #images: Map<string, CacheImage>;
  /** An array, not a Set: see src/util/bag.ts. */
  #waiters: Waiter[] = [];
  #started: Promise<void> | undefined;
  #subscription: Subscription | undefined;
  #revision = 0;
  /** How far the watch is: ahead of `#revision` while caches are loaded anew. */
  #seen = 0;
  #isReloading = false;
  #reading: Promise<unknown> = Promise.resolve();
  #nextFreshening: Promise<void> | undefined;
  #catchingUp: { revision: number; done: Promise<void> } | undefined;
  #progressTimer: Timer | undefined;
  #isClosed = false;

  constructor(engine: Engine, { prefix = '', clock = systemClock, catchesUpFirst = false, readRevision, images }: FeedOptions = {}) {
    this.engine = engine;
    this.clock = clock;
    this.#prefix = prefix;
    this.#catchesUpFirst = catchesUpFirst;
    this.#readRevision = readRevision;
    this.#images = new Map(images);
  }

  /** All changes up to here have been taken in by the caches that are loaded. */
  get revision(): number {
    return this.#revision;
  }

  /** The route gets every change from now on; `load` is called when changes flow. */
  async add(prefix: string, route: FeedRoute): Promise<void> {
    this.#routes.add(prefix, route);
    this.#started ??= this.#startFirst();
    try {
      await this.#started;
      await route.load();
    } catch (error) {
      this.#routes.remove(prefix, route);
      throw error;
    }
  }

  /** What the cache of these keys may begin with, where nothing under them has changed since; once. */
  takeImage(prefix: string): CacheImage | undefined {
    const image = this.#images.get(prefix);
    this.#images.delete(prefix);
    return image;
  }

  remove(prefix: string, route: FeedRoute): void {
    this.#routes.remove(prefix, route);
  }

  /** See ObjectCache.freshen. */
  freshen(): Promise<void> | undefined {
    return this.#catchesUpFirst ? undefined : this.catchUp();
  }

  /** Resolves when the caches have everything that was acknowledged by now. */
  catchUp(): Promise<void> | undefined {
    if (this.engine.isSingleWriter) return undefined;
    if (this.#readRevision !== undefined) return this.#catchUpWith(this.#readRevision());
    // A reading under way may have been answered before this call; all who come meanwhile share the next.
    return (this.#nextFreshening ??= this.#freshenNext());
  }

  /** Where others write, most requests find the caches a moment behind: all that come meanwhile wait for the same. */
  #catchUpWith(revision: number): Promise<void> | undefined {
    if (revision <= this.#revision) return undefined;
    if (this.#catchingUp?.revision === revision) return this.#catchingUp.done;
    const catchingUp = { revision, done: this.waitFor(revision)! };
    this.#catchingUp = catchingUp;
    const forget = (): void => {
      if (this.#catchingUp === catchingUp) this.#catchingUp = undefined;
    };
    catchingUp.done.then(forget, forget);
    return catchingUp.done;
  }

  /** See ObjectCache.waitFor. */
  waitFor(revision: number, shown = String(revision)): Promise<void> | undefined {
    if (revision <= this.#revision) return undefined;
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(WAIT_MS, () => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(tooLargeResourceVersion(shown, this.#revision));
      });
      const waiter: Waiter = {
        revision,
        resolve: () => {
          timer.cancel();
          resolve();
        },
      };
      this.#waiters.push(waiter);
      this.#progressTimer ??= this.#askForProgress(FIRST_PROGRESS_MS);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#progressTimer?.cancel();
    this.#subscription?.close();
  }

  async #freshenNext(): Promise<void> {
    await this.#reading;
    this.#nextFreshening = undefined;
    const revision = this.engine.currentRevision();
    this.#reading = revision.catch(() => undefined);
    await this.waitFor(await revision);
  }

  #askForProgress(delayMs: number): Timer {
    return this.clock.after(delayMs, () => {
      this.#progressTimer = undefined;
      if (this.#isClosed || this.#waiters.length === 0) return;
      this.#subscription?.requestProgress?.();
      this.#progressTimer = this.#askForProgress(NEXT_PROGRESS_MS);
    });
  }

  /** A failure is told to those who waited; the next cache tries again. */
  async #startFirst(): Promise<void> {
    try {
      await this.#start();
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
  }

  async #start(): Promise<void> {
    const revision = await this.engine.currentRevision();
    this.#advance(revision);
    if (this.#isClosed) return;
    this.#watch(revision);
  }

  #watch(revision: number): void {
    this.#subscription = this.engine.watch(
      this.#prefix,
      revision + 1,
      (events) => this.#receive(events),
      (error) => this.#lose(error),
      (progress) => this.#advance(progress),
    );
  }

  #lose(error: Error): void {
    if (!(error instanceof StoreReset) || this.#isReloading) this.#started = this.#restart(error);
    else this.#reset(error);
  }

  /** In one turn: nobody sees a part of it. */
  #reset(reset: StoreReset): void {
    this.#images.clear();
    const routes = new Map(Array.from(this.#routes, (route) => [route, [] as StoredEvent[]]));
    for (const event of reset.events) this.#routes.forEachUnder(event.key, (route) => void routes.get(route)!.push(event));
    this.#watch(reset.oldestRevision);
    for (const [route, events] of routes) route.reset(events, reset);
    this.#see(reset.oldestRevision);
    for (const route of routes.keys()) route.announce();
    this.#wakeWaiters();
  }

  /** Changes of one revision become visible together: all caches take them in before any watcher hears of one. */
  #receive(events: StoredEvent[]): void {
    let i = 0;
    while (i < events.length) {
      const { revision } = events[i]!;
      const touched: FeedRoute[] = [];
      for (; events[i]?.revision === revision; i++) {
        const event = events[i]!;
        if (this.#images.size > 0) this.#dropImages(event.key);
        this.#routes.forEachUnder(event.key, (route) => {
          if (route.apply(event)) touched.push(route);
        });
      }
      this.#see(revision);
      for (const route of touched) route.announce();
    }
    this.#wakeWaiters();
  }

  #dropImages(key: string): void {
    for (let slash = key.indexOf('/'); slash !== -1; slash = key.indexOf('/', slash + 1)) this.#images.delete(key.slice(0, slash + 1));
  }

  #advance(revision: number): void {
    this.#see(revision);
    this.#wakeWaiters();
  }

  #see(revision: number): void {
    this.#seen = Math.max(this.#seen, revision);
    if (!this.#isReloading) this.#revision = this.#seen;
  }

  #wakeWaiters(): void {
    if (this.#waiters.length === 0) return;
    const due: Waiter[] = [];
    const rest: Waiter[] = [];
    for (const waiter of this.#waiters) (waiter.revision > this.#revision ? rest : due).push(waiter);
    this.#waiters = rest;
    for (const waiter of due) waiter.resolve();
  }

  async #loadAll(): Promise<void> {
    await Promise.all([...this.#routes].map((route) => route.load()));
  }

  async #restart(error: Error): Promise<void> {
    this.#isReloading = true;
    while (!this.#isClosed) {
      this.#subscription?.close();
      for (const route of this.#routes) route.interrupt(error);
      try {
        await this.#start();
        await this.#loadAll();
        this.#isReloading = false;
        this.#advance(this.#seen);
        return;
      } catch {
        // Readers see a cache that does not move, and readiness the engine's own check, until it works again.
        await new Promise<void>((resolve) => this.clock.after(RETRY_MS, resolve));
      }
    }
  }
}
