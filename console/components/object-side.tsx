import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { follow } from '../api/follow.ts';
import type { ApiObject, Condition, ObjectList } from '../api/objects.ts';
import type { FieldDocs } from '../schema/schema.ts';
import { useApp } from '../state/app.ts';
import { formatAge } from '../table/age.ts';
import { fieldPathText } from '../yaml/object-text.ts';
import type { FieldOwner } from '../yaml/ownership.ts';
import { useNow } from './use-now.ts';

interface ObjectSideProps {
  object: ApiObject;
  owners: readonly FieldOwner[];
  docs: FieldDocs | undefined;
}

/** What stands beside an object: the field that the cursor is on, conditions, events, and who set what. */
export function ObjectSide({ object, owners, docs }: ObjectSideProps) {
  const nowMs = useNow();
  const conditions = object.status?.conditions ?? [];
  return (
    <aside class="side" aria-label="About the object" tabIndex={0}>
      <Field docs={docs} />
      {conditions.length > 0 && <Conditions conditions={conditions} nowMs={nowMs} />}
      <Events object={object} nowMs={nowMs} />
      <Managers owners={owners} nowMs={nowMs} />
    </aside>
  );
}

const ageOf = (time: string | undefined, nowMs: number): string => (time === undefined || time === '' ? '' : `${formatAge(nowMs - Date.parse(time))} ago`);

function Field({ docs }: { docs: FieldDocs | undefined }) {
  return (
    <section>
      <h2>Field</h2>
      {docs === undefined ? (
        <p class="muted">Go to a line, or point at it: what the field means is told here.</p>
      ) : (
        <>
          <p>
            <code>{fieldPathText(docs.path)}</code> <span class="muted">{docs.type}</span>
            {docs.isRequired && <span class="tag">required</span>}
          </p>
          <p class="docs" tabIndex={0} role="region" aria-label="What the field means">
            {docs.description || 'The server says nothing of it.'}
          </p>
          {docs.values.length > 0 && <p class="muted">One of {docs.values.join(', ')}</p>}
        </>
      )}
    </section>
  );
}

function Conditions({ conditions, nowMs }: { conditions: readonly Condition[]; nowMs: number }) {
  return (
    <section>
      <h2>Conditions</h2>
      <ul class="entries">
        {conditions.map(({ type, status, reason, message, lastTransitionTime }) => (
          <li key={type}>
            <p>
              <span class={`dot ${toneOf(type, status)}`} aria-hidden="true" />
              <strong>{type}</strong>: {status} {reason !== undefined && reason !== '' && <span class="muted">{reason}</span>}{' '}
              <time class="muted">{ageOf(lastTransitionTime, nowMs)}</time>
            </p>
            {message !== undefined && message !== '' && <p class="muted">{message}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Most conditions are good when they hold; those that tell of trouble are not. */
const toneOf = (type: string, status: string): string =>
  status === 'Unknown'
    ? 'waiting'
    : (status === 'True') === !/Pressure|Unavailable|Failure|Failed|Terminating|Suspended|NonStructural/.test(type)
      ? 'good'
      : 'bad';

interface ApiEvent extends ApiObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  lastTimestamp?: string;
  eventTime?: string;
  series?: { count?: number; lastObservedTime?: string };
}

const MAX_EVENTS = 50;
const lastSeen = ({ series, lastTimestamp, eventTime, metadata }: ApiEvent): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

function Events({ object, nowMs }: { object: ApiObject; nowMs: number }) {
  const { client } = useApp();
  const events = useSignal<ReadonlyMap<string, ApiEvent>>(new Map());
  const refusal = useSignal('');
  const { uid = '', namespace } = object.metadata;
  useEffect(() => {
    const stop = new AbortController();
    events.value = new Map();
    const take = (items: readonly ApiEvent[]): void => {
      events.value = new Map([...events.value, ...items.map((item) => [item.metadata.uid ?? item.metadata.name, item] as const)].slice(-MAX_EVENTS));
    };
    const path = namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${namespace}/events`;
    void follow(
      client,
      { path, query: { fieldSelector: `involvedObject.uid=${uid}` }, accept: 'application/json', signal: stop.signal },
      {
        page: (body) => take((body as ObjectList<ApiEvent>).items),
        listed: () => {},
        events: (changes) => take(changes.filter(({ type }) => type !== 'DELETED').map((change) => change.object as ApiEvent)),
        state: () => {},
        refused: (error) => (refusal.value = error.message),
      },
    );
    return () => stop.abort();
  }, [uid, namespace]);
  const sorted = [...events.value.values()].sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1));
  return (
    <section>
      <h2>Events</h2>
      {refusal.value !== '' && <p class="muted">Refused: {refusal.value}</p>}
      {refusal.value === '' && sorted.length === 0 && <p class="muted">None.</p>}
      <ul class="entries">
        {sorted.map((event) => (
          <li key={event.metadata.uid}>
            <p>
              <span class={`dot ${event.type === 'Warning' ? 'bad' : 'good'}`} aria-hidden="true" />
              <strong>{event.reason}</strong> <span class="muted">{event.type}</span> <time class="muted">{ageOf(lastSeen(event), nowMs)}</time>
              {(event.series?.count ?? event.count ?? 1) > 1 && <span class="tag">{event.series?.count ?? event.count} times</span>}
            </p>
            <p class="muted">{event.message}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Managers({ owners, nowMs }: { owners: readonly FieldOwner[]; nowMs: number }) {
  if (owners.length === 0) return null;
  return (
    <section>
      <h2>Who set its fields</h2>
      <ul class="entries">
        {owners.map(({ manager, operation, subresource, time }, index) => (
          <li key={`${manager}/${operation}/${subresource}`} class={`manager owner-${index % 4}`}>
            <strong>{manager}</strong>{' '}
            <span class="muted">
              {operation}
              {subresource === '' ? '' : ` of ${subresource}`}
              {time !== '' && <time>, {ageOf(time, nowMs)}</time>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
