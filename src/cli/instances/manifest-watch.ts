import { type FSWatcher, readFileSync, watch } from 'node:fs';
import { manifestFiles, watchedFolders } from '../../testing/manifests.ts';

/** An editor saves a file in several steps, and a checkout many files: they are looked at together. */
const SETTLE_MS = 100;

export interface ManifestWatchOptions {
  /** Folders, files and globs. */
  sources: readonly string[];
  /** Applies one file, and answers with a line that says what was applied. */
  apply(file: string): Promise<string>;
  onApplied(line: string): void;
  /** What is wrong with a file; the next save is tried again. */
  onError(message: string): void;
}

/** Applies manifests when they are saved: those that have changed since, or have come. What is removed from a file, or a file that is removed, stays in the server. */
export class ManifestWatch {
  readonly #options: ManifestWatchOptions;
  readonly #watchers: readonly FSWatcher[];
  /** As they were applied last. */
  readonly #texts: Map<string, string>;
  #timer: NodeJS.Timeout | undefined;
  #applying: Promise<void> = Promise.resolve();

  constructor(options: ManifestWatchOptions) {
    this.#options = options;
    this.#texts = new Map(this.#files().map((file) => [file, readFileSync(file, 'utf8')]));
    const folders = new Map(options.sources.map(watchedFolders).map(({ folder, isDeep }) => [folder, isDeep]));
    this.#watchers = Array.from(folders, ([folder, recursive]) =>
      watch(folder, { recursive }, () => this.#lookSoon()).on('error', (error) => options.onError(error.message)),
    );
  }

  async stop(): Promise<void> {
    for (const watcher of this.#watchers) watcher.close();
    clearTimeout(this.#timer);
    await this.#applying;
  }

  #files(): string[] {
    return [...new Set(this.#options.sources.flatMap(manifestFiles))];
  }

  #lookSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#applying = this.#applying.then(() => this.#applyChanged());
    }, SETTLE_MS);
  }

  async #applyChanged(): Promise<void> {
    try {
      for (const file of this.#files()) await this.#applyIfChanged(file);
    } catch (error) {
      this.#options.onError((error as Error).message);
    }
  }

  async #applyIfChanged(file: string): Promise<void> {
    const text = readFileSync(file, 'utf8');
    if (this.#texts.get(file) === text) return;
    this.#texts.set(file, text);
    try {
      this.#options.onApplied(await this.#options.apply(file));
    } catch (error) {
      this.#options.onError((error as Error).message);
    }
  }
}
