import type { UpstreamPaths } from '../upstream-paths.ts';
import { type Change, tableChanges } from './table-changes.ts';
import type { Table } from './fact-set.ts';

/** What of ours must be looked at because upstream's code for it changed. */
export interface ChangedSources {
  readonly ours: string;
  readonly files: readonly Change[];
}

/** By kind, group and part. A file that several answer for stands at each. */
export function changedSources(before: Table, after: Table, paths: UpstreamPaths): ChangedSources[] {
  const changes = tableChanges(before, after, () => '');
  const answering = [
    ...[...Object.values(paths.kinds), ...Object.values(paths.groups)].map(({ ours, upstream }) => ({ ours, upstream })),
    ...Object.entries(paths.parts).map(([ours, upstream]) => ({ ours, upstream })),
  ];
  const byOurs = new Map<string, Change[]>();
  for (const { ours, upstream } of answering) {
    const files = changes.filter(({ subject }) => upstream.some((folder) => subject.startsWith(`${folder}/`)));
    const known = byOurs.get(ours) ?? [];
    byOurs.set(ours, [...known, ...files.filter((file) => !known.includes(file))]);
  }
  return [...byOurs].filter(([, files]) => files.length > 0).map(([ours, files]) => ({ ours, files }));
}
