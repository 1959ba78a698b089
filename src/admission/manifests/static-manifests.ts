import { type FSWatcher, watch } from 'node:fs';
import type { ApiObject } from '../../api/api-object.ts';
import type { KindSettings } from '../../registry/write.ts';
import { type Clock, type Timer, systemClock } from '../../util/clock.ts';
import { type LoadedManifests, loadManifests } from './load-manifests.ts';
import { type ManifestSet, manifestSets } from './manifest-kinds.ts';

/* ManifestBasedAdmissionControlConfig (KEP-5793): webhooks and policies from a folder beside the server, which no client can change. */

/** The folder is looked at this often, even if the system reports no change. */
const POLL_MS = 60_000;
/** A change is read so long after its report: writers take several steps. */
const SETTLE_MS = 100;

export interface ManifestObserver {
  loaded(plugin: string, hash: string): void;
  failed(plugin: string): void;
}

export interface ManifestOptions {
  settings: KindSettings;
  observer: ManifestObserver;
  /** Told of a folder that can not be used; what was read before stays. */
  report(plugin: string, error: Error): void;
  clock?: Clock;
}

/** The manifests of one plug-in, as they are now. */
export interface StaticManifests {
  /** In the order of their names. */
  list<T extends ApiObject>(kind: string): readonly T[];
  onChange(listener: () => void): void;
  close(): void;
}

/** Throws an Error in upstream's words where the folder can not be used. */
export async function openManifests(plugin: string, folder: string, options: ManifestOptions): Promise<StaticManifests> {
  const set = manifestSets.get(plugin)!;
  try {
    const manifests = new FolderManifests(plugin, folder, options, await load(folder, set, options.settings));
    options.observer.loaded(plugin, manifests.hash);
    manifests.follow();
    return manifests;
  } catch (error) {
    throw new Error(`failed to load static ${set.what} manifests from ${JSON.stringify(folder)}: ${(error as Error).message}`, { cause: error });
  }
}

async function load(folder: string, { kinds, checkAll }: ManifestSet, settings: KindSettings): Promise<LoadedManifests> {
  const loaded = await loadManifests(folder, kinds, settings);
  checkAll(loaded);
  return loaded;
}

class FolderManifests implements StaticManifests {
  readonly #plugin: string;
  readonly #folder: string;
  readonly #options: ManifestOptions;
  readonly #clock: Clock;
  readonly #listeners: (() => void)[] = [];
  #loaded: LoadedManifests;
  #watcher: FSWatcher | undefined;
  #poll: Timer | undefined;
  #settling: Timer | undefined;
  #reading: Promise<void> | undefined;
  #isClosed = false;

  constructor(plugin: string, folder: string, options: ManifestOptions, loaded: LoadedManifests) {
    this.#plugin = plugin;
    this.#folder = folder;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#loaded = loaded;
  }

  get hash(): string {
    return this.#loaded.hash;
  }

  list<T extends ApiObject>(kind: string): readonly T[] {
    return this.#loaded.objects.get(kind) as unknown as readonly T[];
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  follow(): void {
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#settle());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // No watch to be had (too many, or not on this file system): polling finds the change later.
    }
    this.#pollLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    this.#poll?.cancel();
    this.#settling?.cancel();
  }

  #pollLater(): void {
    this.#poll = this.#clock.after(POLL_MS, () => {
      void this.#reload();
      this.#pollLater();
    });
  }

  #settle(): void {
    this.#settling ??= this.#clock.after(SETTLE_MS, () => {
      this.#settling = undefined;
      void this.#reload();
    });
  }

  #reload(): Promise<void> {
    return (this.#reading ??= this.#read().finally(() => (this.#reading = undefined)));
  }

  async #read(): Promise<void> {
    const { settings, observer, report } = this.#options;
    try {
      const next = await load(this.#folder, manifestSets.get(this.#plugin)!, settings);
      if (this.#isClosed || next.hash === this.#loaded.hash) return;
      this.#loaded = next;
      observer.loaded(this.#plugin, next.hash);
      for (const listener of this.#listeners) listener();
    } catch (error) {
      if (this.#isClosed) return;
      observer.failed(this.#plugin);
      report(this.#plugin, error as Error);
    }
  }
}
