import type { UpstreamPaths } from '../upstream-paths.ts';
import { type Change, tableChanges } from './table-changes.ts';
import type { Table } from './fact-set.ts';

/** What of ours must be looked at because upstream's code for it changed. */
export interface ChangedSources {
  readonly ours: string;
  /** Upstream's folder → the files in it that changed, by their paths in it. */
  readonly folders: ReadonlyMap<string, readonly Change[]>;
}

/** By kind, group and part. A file that several answer for stands at each. */
export function changedSources(before: Table, after: Table, paths: UpstreamPaths): ChangedSources[] {
  const changes = tableChanges(before, after, () => '');
  const answering = [
    ...[...Object.values(paths.kinds), ...Object.values(paths.groups)].map(({ ours, upstream }) => ({ ours, upstream })),
    ...Object.entries(paths.parts).map(([ours, upstream]) => ({ ours, upstream })),
  ];
  const byOurs = new Map<string, Map<string, Change[]>>();
  for (const { ours, upstream } of answering) {
    const folders = byOurs.get(ours) ?? new Map<string, Change[]>();
    byOurs.set(ours, folders);
    for (const folder of upstream) {
      const files = changes
        .filter(({ subject }) => subject.startsWith(`${folder}/`))
        .map((change) => Object.assign({}, change, { subject: change.subject.slice(folder.length + 1) }));
      if (files.length > 0) folders.set(folder, files);
    }
  }
  return [...byOurs].filter(([, folders]) => folders.size > 0).map(([ours, folders]) => ({ ours, folders }));
}
