import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ChangeList } from '../components/change-list.tsx';
import { SearchField } from '../components/search-field.tsx';
import { KubectlLine } from '../components/kubectl-line.tsx';
import { Refused } from '../components/refused.tsx';
import { type Change, authorOf, changesCommand, changesPath, objectLabel, summaryOf } from '../history/change.ts';
import { useApp } from '../state/app.ts';
import { ChangeLog } from '../state/change-log.ts';

/** Everything that was written, by whom and what. */
export function ChangesView() {
  const { client, namespace, router } = useApp();
  const log = useMemo(() => new ChangeLog(client), []);
  const selected = useSignal<Change | undefined>(undefined);
  const search = (router.route.value.query.get('search') ?? '').toLowerCase();
  useEffect(() => {
    selected.value = undefined;
    void log.open(changesPath(namespace.value), '');
    return () => log.close();
  }, [namespace.value]);
  const shown = log.changes.value.filter((change) => textOf(change).includes(search));
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Changes</h1>
        <span class="count">{shown.length.toLocaleString('en')}</span>
        <span class="spacer" />
        <SearchField label="Search in the changes" placeholder="User, object, field  /" />
        {log.hasMore.value && (
          <button type="button" onClick={() => void log.loadOlder()}>
            Older ones
          </button>
        )}
      </div>
      {log.error.value !== undefined && <Refused error={log.error.value} />}
      <div class="scroll">
        <ChangeList
          changes={shown}
          hasObject
          selected={selected.value}
          onSelect={(change) => (selected.value = selected.value === change ? undefined : change)}
        />
      </div>
      <KubectlLine command={changesCommand(namespace.value)} />
    </div>
  );
}

const textOf = (change: Change): string =>
  `${authorOf(change)} ${objectLabel(change)} ${change.verb} ${change.fieldManager ?? ''} ${summaryOf(change)}`.toLowerCase();
