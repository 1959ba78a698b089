import { useEffect, useMemo } from 'preact/hooks';
import { type Change, addressOf, authorOf, changesPath, objectLabel, summaryOf } from '../history/change.ts';
import { useApp } from '../state/app.ts';
import { ChangeLog } from '../state/change-log.ts';
import { formatAge } from '../table/age.ts';
import { DataTable } from './data-table.tsx';
import { useNow } from './use-now.ts';

const SHOWN = 8;

/** Who changed what of late; what machines write all the time is left out. */
export function RecentChanges() {
  const { client, namespace } = useApp();
  const nowMs = useNow();
  const log = useMemo(() => new ChangeLog(client), []);
  useEffect(() => {
    void log.open(changesPath(namespace.value), 'object.resource!=events,object.resource!=leases');
    return () => log.close();
  }, [namespace.value]);
  const people = log.changes.value.filter(({ user }) => !(user?.username ?? '').startsWith('system:'));
  return (
    <DataTable<Change>
      title="Who changed what"
      rows={people.slice(-SHOWN).toReversed()}
      empty="Nobody has changed anything yet."
      keyOf={({ metadata }) => metadata.name}
      columns={[
        { name: 'When', of: ({ time }) => `${formatAge(nowMs - Date.parse(time))} ago` },
        { name: 'Who', of: authorOf },
        {
          name: 'Object',
          of: (change) => <a href={`#${addressOf(change)}`}>{objectLabel(change)}</a>,
        },
        { name: 'What', isLong: true, of: summaryOf },
      ]}
    />
  );
}
