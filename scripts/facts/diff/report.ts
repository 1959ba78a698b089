import { changesBetween, type Section } from './changes.ts';
import { concernOf, type ConcernSources } from './concerns.ts';
import type { FactSet } from './fact-set.ts';
import { type ChangedSources, changedSources } from './upstream-changes.ts';

const MARKS = { added: '+', removed: '−', changed: '~' };

/** What changed from one set of facts to another, as Markdown: one line a change, then our files. */
export function report(before: FactSet, after: FactSet, from: Omit<ConcernSources, 'before' | 'after'>): string {
  const sections = changesBetween(before, after);
  const missing = sections.filter(({ changes }) => changes === undefined).map(({ title }) => title.toLowerCase());
  const sources = before.upstream && after.upstream && changedSources(before.upstream, after.upstream, from.paths);
  const parts = [
    `# From ${before.version} to ${after.version}\n`,
    '`+` is new, `−` is gone, `~` changed. Behind `→` stand files of ours; where none stands, nothing of ours knows it yet.\n',
    ...(missing.length > 0 ? [`Not compared, since one of both sets has no such facts: ${missing.join(', ')}.\n`] : []),
    ...sections.flatMap((section) => sectionText(section, { ...from, before, after })),
    ...(sources ? [sourcesText(sources)] : []),
  ];
  return parts.join('\n');
}

function sectionText({ title, changes }: Section, from: ConcernSources): string[] {
  if (changes === undefined || changes.length === 0) return [];
  const lines = changes.map((change) => {
    const ours = concernOf(title, change, from);
    return `- ${MARKS[change.kind]} ${change.subject.replace(/^io\.k8s\.(api\.)?/, '')}${change.detail === '' ? '' : `: ${change.detail}`}${ours.length === 0 ? '' : ` → ${ours.join(', ')}`}`;
  });
  return [`## ${title} (${changes.length})\n`, `${lines.join('\n')}\n`];
}

/** One line a file or folder of ours: upstream's folders, each with its files that changed. */
function sourcesText(sources: readonly ChangedSources[]): string {
  const lines = sources.map(({ ours, folders }) => {
    const parts = [...folders].map(
      ([folder, files]) => `${folder.replace('staging/src/', '')} (${files.map(({ kind, subject }) => `${MARKS[kind]}${subject}`).join(' ')})`,
    );
    return `- ${ours}: ${parts.join(', ')}`;
  });
  return `## Upstream's code, by our files that answer for it\n\n${lines.join('\n')}\n`;
}
