import { readFileSync } from 'node:fs';

/** What of ours answers for which folders of upstream's tree. */
export interface Answering {
  readonly ours: string;
  readonly upstream: readonly string[];
}

/** `facts/upstream-paths.json`. */
export interface UpstreamPaths {
  /** By API group: its types, defaults and validation. */
  readonly groups: Readonly<Record<string, Answering>>;
  /** By `group/plural`: its strategy and storage. */
  readonly kinds: Readonly<Record<string, Answering>>;
  /** By our folder: parts of the server that are no kinds. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
}

export const UPSTREAM_PATHS_FILE = 'facts/upstream-paths.json';

export const readUpstreamPaths = (file = UPSTREAM_PATHS_FILE): UpstreamPaths => JSON.parse(readFileSync(file, 'utf8')) as UpstreamPaths;
