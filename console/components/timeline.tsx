import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ResourcePath } from '../api/resource-path.ts';
import { type Change, changeAt, changesRequest, momentMs } from '../history/change.ts';
import { useApp } from '../state/app.ts';
import { ChangeLog } from '../state/change-log.ts';
import { ChangeDetails } from './change-details.tsx';
import { ChangeList } from './change-list.tsx';
import { useNow } from './use-now.ts';
import { formatTime } from '../table/age.ts';

interface TimelineProps {
  place: ResourcePath;
  /** The moment that is shown; nothing for now. */
  at: string | undefined;
  onAt: (at: string | undefined) => void;
}

const MIN_SPAN_MS = 60_000;
/** While the handle moves, moments are asked for no more often than this. */
const DRAG_MS = 80;

/** The time line under tables and objects: drag it, and the page shows that moment. */
export function Timeline({ place, at, onAt }: TimelineProps) {
  const { client } = useApp();
  const log = useMemo(() => new ChangeLog(client), []);
  const isListOpen = useSignal(false);
  const nowMs = useNow();
  const { path, fieldSelector } = changesRequest(place);
  useEffect(() => void log.open(path, fieldSelector), [path, fieldSelector]);
  useEffect(() => () => log.close(), []);
  const changes = log.changes.value;
  const current = at === undefined ? undefined : changeAt(changes, at);
  const step = (by: number): void => {
    const index = current === undefined ? (at === undefined ? changes.length : -1) : changes.indexOf(current);
    const next = changes[index + by];
    if (next !== undefined) onAt(next.objectResourceVersion ?? next.time);
    else if (by > 0) onAt(undefined);
  };
  if (log.error.value !== undefined) return null;
  return (
    <section class="timeline" aria-label="History">
      <div class="timeline-bar">
        <button type="button" class="quiet" aria-label="Change before" title="Change before" disabled={changes.length === 0} onClick={() => step(-1)}>
          ◂
        </button>
        <Track changes={changes} at={at} nowMs={nowMs} onAt={onAt} />
        <button type="button" class="quiet" aria-label="Next change" title="Next change" disabled={at === undefined} onClick={() => step(1)}>
          ▸
        </button>
        <span class="moment" role="status">
          {at === undefined ? 'Now' : formatTime(momentMs(changes, at) ?? nowMs)}
        </span>
        {at !== undefined && (
          <button type="button" class="primary" onClick={() => onAt(undefined)}>
            Back to now
          </button>
        )}
        <button type="button" aria-expanded={isListOpen.value} onClick={() => (isListOpen.value = !isListOpen.value)}>
          {changes.length.toLocaleString('en')}
          {log.hasMore.value ? '+' : ''} {changes.length === 1 ? 'change' : 'changes'}
        </button>
      </div>
      {current && !isListOpen.value && <ChangeDetails change={current} hasObject={place.name === undefined} />}
      {isListOpen.value && (
        <ChangeList
          changes={changes}
          hasObject={place.name === undefined}
          selected={current}
          onSelect={(change) => onAt(change.objectResourceVersion ?? change.time)}
        />
      )}
    </section>
  );
}

interface TrackProps {
  changes: readonly Change[];
  at: string | undefined;
  nowMs: number;
  onAt: (at: string | undefined) => void;
}

/** From the first change that is known to now, with a mark for each change. */
function Track({ changes, at, nowMs, onAt }: TrackProps) {
  const dragged = useSignal<number | undefined>(undefined);
  const timer = useSignal<ReturnType<typeof setTimeout> | undefined>(undefined);
  const from = Math.min(nowMs - MIN_SPAN_MS, changes.length === 0 ? nowMs : Date.parse(changes[0]!.time));
  const value = dragged.value ?? (at === undefined ? nowMs : (momentMs(changes, at) ?? nowMs));
  const drag = (to: number): void => {
    dragged.value = to;
    timer.value ??= setTimeout(() => {
      timer.value = undefined;
      onAt(momentOf(dragged.value ?? to, nowMs));
    }, DRAG_MS);
  };
  const release = (to: number): void => {
    clearTimeout(timer.value);
    timer.value = undefined;
    dragged.value = undefined;
    onAt(momentOf(to, nowMs));
  };
  return (
    <div class="track">
      <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
        {marksOf(changes, from, nowMs).map(({ x, type }) => (
          <line key={`${x}${type}`} class={`mark ${type}`} x1={x} x2={x} y1={2} y2={14} />
        ))}
      </svg>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={at === undefined ? 'now' : formatTime(value)}
        min={from}
        max={nowMs}
        value={value}
        onInput={(event) => drag(Number(event.currentTarget.value))}
        onChange={(event) => release(Number(event.currentTarget.value))}
      />
    </div>
  );
}

/** Near the end of the track it is now. */
const NEAR_NOW_MS = 500;
const momentOf = (timeMs: number, nowMs: number): string | undefined => (nowMs - timeMs < NEAR_NOW_MS ? undefined : new Date(timeMs).toISOString());

/** One mark for all that are in one place. */
function marksOf(changes: readonly Change[], fromMs: number, toMs: number): { x: number; type: Change['type'] }[] {
  const marks = new Map<number, Change['type']>();
  for (const { time, type } of changes) {
    const x = Math.round((1_000 * (Date.parse(time) - fromMs)) / Math.max(1, toMs - fromMs));
    if (marks.get(x) !== 'deleted') marks.set(x, type);
  }
  return [...marks].map(([x, type]) => ({ x, type }));
}
