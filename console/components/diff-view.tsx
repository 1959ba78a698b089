import { type DiffLine, diffLines, hunksOf } from '../yaml/line-diff.ts';

interface DiffViewProps {
  before: string;
  after: string;
  label: string;
}

const MARKS: Readonly<Record<DiffLine['type'], string>> = { same: ' ', added: '+', removed: '-' };
const WORDS: Readonly<Record<DiffLine['type'], string>> = { same: '', added: 'added: ', removed: 'removed: ' };

/** What differs between two texts, as `kubectl diff` shows it. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const hunks = hunksOf(diffLines(before, after));
  if (hunks.length === 0) return <p class="muted">Nothing would change.</p>;
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {hunks.map(({ beforeLine, afterLine, lines }) => (
        <div key={`${beforeLine}/${afterLine}`} class="hunk">
          <div class="hunk-head">{`@@ line ${afterLine}`}</div>
          {lines.map(({ type, text }, index) => (
            <div key={index} class={`diff-line ${type}`}>
              <span aria-hidden="true">{MARKS[type]}</span>
              <span class="visually-hidden">{WORDS[type]}</span>
              {text}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
