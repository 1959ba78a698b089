import type { ApiObject, ObjectList } from '../api/objects.ts';
import { messageOf } from '../api/status.ts';
import { useApp } from '../state/app.ts';
import { formatAge } from '../table/age.ts';
import { DataTable } from './data-table.tsx';
import { useLoaded } from './use-loaded.ts';
import { useNow } from './use-now.ts';

interface WarningEvent extends ApiObject {
  reason?: string;
  message?: string;
  involvedObject?: { kind?: string; name?: string; namespace?: string };
  lastTimestamp?: string;
  eventTime?: string;
}

const SHOWN = 8;
const LIMIT = 200;
const timeOf = ({ lastTimestamp, eventTime, metadata }: WarningEvent): string => lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

/** What controllers and nodes warn of. */
export function WarningEvents() {
  const { client } = useApp();
  const nowMs = useNow();
  const query = { fieldSelector: 'type=Warning', limit: String(LIMIT) };
  const { value: events, error } = useLoaded((signal) => client.json<ObjectList<WarningEvent>>('/api/v1/events', { query, signal }), []);
  return (
    <DataTable<WarningEvent>
      title="Warnings"
      rows={(events?.items ?? []).toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)).slice(0, SHOWN)}
      empty={error === undefined ? 'No warnings.' : messageOf(error)}
      keyOf={({ metadata }) => metadata.uid ?? metadata.name}
      columns={[
        { name: 'Seen', of: (event) => `${formatAge(nowMs - Date.parse(timeOf(event)))} ago` },
        { name: 'Object', of: ({ involvedObject = {} }) => `${involvedObject.kind ?? ''} ${involvedObject.name ?? ''}` },
        {
          name: 'Warning',
          isLong: true,
          of: ({ reason, message }) => (
            <>
              <strong>{reason}</strong> <span class="muted">{message}</span>
            </>
          ),
        },
      ]}
    />
  );
}
