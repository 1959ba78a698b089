import { type Change, authorOf, objectLabel, summaryOf } from '../history/change.ts';
import { ChangeDetails } from './change-details.tsx';
import { formatTime } from '../table/age.ts';

interface ChangeListProps {
  /** Oldest first. */
  changes: readonly Change[];
  hasObject: boolean;
  selected: Change | undefined;
  onSelect: (change: Change) => void;
}

const MAX_SHOWN = 200;

/** Changes, the newest first; the one that is chosen tells all. */
export function ChangeList({ changes, hasObject, selected, onSelect }: ChangeListProps) {
  const shown = changes.slice(-MAX_SHOWN).toReversed();
  return (
    <div class="change-list" tabIndex={0} role="region" aria-label="Changes">
      {shown.length === 0 && <p class="muted">Nothing was changed in the time that is kept.</p>}
      <ul>
        {shown.map((change) => (
          <li key={change.metadata.name} class={change === selected ? 'selected' : undefined}>
            <button type="button" class="quiet change-row" aria-pressed={change === selected} onClick={() => onSelect(change)}>
              <time>{formatTime(Date.parse(change.time))}</time>
              <strong>{authorOf(change)}</strong>
              <span>{change.verb}</span>
              {hasObject && <span>{objectLabel(change)}</span>}
              <span class="muted">{summaryOf(change)}</span>
            </button>
            {change === selected && <ChangeDetails change={change} hasObject={hasObject} />}
          </li>
        ))}
      </ul>
    </div>
  );
}
