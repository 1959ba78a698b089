import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ApiObject, ObjectList } from '../api/objects.ts';
import { isAborted, messageOf } from '../api/status.ts';
import { useApp } from '../state/app.ts';
import { formatAge } from '../table/age.ts';
import { DataTable } from './data-table.tsx';
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
  const events = useSignal<readonly WarningEvent[]>([]);
  const refusal = useSignal('');
  const nowMs = useNow();
  useEffect(() => {
    const stop = new AbortController();
    client.json<ObjectList<WarningEvent>>('/api/v1/events', { query: { fieldSelector: 'type=Warning', limit: String(LIMIT) }, signal: stop.signal }).then(
      ({ items }) => (events.value = items.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1)).slice(0, SHOWN)),
      (error: unknown) => !isAborted(error) && (refusal.value = messageOf(error)),
    );
    return () => stop.abort();
  }, []);
  return (
    <DataTable<WarningEvent>
      title="Warnings"
      rows={events.value}
      empty={refusal.value === '' ? 'No warnings.' : refusal.value}
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
