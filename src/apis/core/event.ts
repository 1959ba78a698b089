import type { ResourceDefinition } from '../../registry/definition.ts';
import { ageSince } from '../../util/duration.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainErrors, qualifiedNameErrors } from '../../api/names.ts';
import { type Cell, defineResource } from '../define.ts';
import type { Event } from '../facts/types/core-v1.ts';

/** Limits of events that tell their time as the newer API does. */
const WORD_MAX_BYTES = 128;
const MESSAGE_MAX_BYTES = 1024;
const MISPLACED = 'does not match event.namespace';

/** What both groups share. Nothing is said of metadata beyond what every object must keep, and nothing owns an event or waits for one to go. */
export const eventTraits = (ttlSeconds: number) =>
  ({
    storage: { prefix: 'events', isUncached: true, ttlSeconds: () => ttlSeconds },
    createsOnUpdate: true,
    deletion: { defaultPropagation: 'none' },
    validatesMetadata: false,
  }) as const;

/** What happened to an object, told by whoever saw it; forgotten after `ttlSeconds` (--event-ttl). events.k8s.io has the same events in newer clothes. */
export const defineCoreEvents = (ttlSeconds: number): ResourceDefinition<Event> =>
  defineResource<Event>('v1/events', {
    ...eventTraits(ttlSeconds),
    validate: ({ object: event }, errors) => validateEvent(event, 'reportingComponent', errors),
    validateUpdate: ({ object: event }, errors) => validateEvent(event, 'reportingComponent', errors),

    selectable: {
      'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
      'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
      'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
      'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
      'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
      'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
      'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
      reason: ({ reason }) => reason ?? '',
      reportingComponent: ({ reportingComponent }) => reportingComponent,
      source: ({ source, reportingComponent }) => source.component || reportingComponent,
      type: ({ type }) => type ?? '',
    },
    cells: eventCells,
  });

/** Of both groups; `controllerField` is what the group calls the reporting controller (pkg/apis/core/validation legacyValidateEvent). */
export function validateEvent(event: Event, controllerField: string, errors: FieldErrors): void {
  const { metadata, involvedObject } = event;
  const namespace = metadata.namespace ?? '';
  const involved = involvedObject.namespace ?? '';
  if (event.eventTime === null) {
    // Objects without a namespace are told of in `default`.
    const isPlaced = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
    if (!isPlaced) errors.at('involvedObject', 'namespace').invalid(involved, MISPLACED);
  } else {
    if (involved === '' && namespace !== 'default' && namespace !== 'kube-system') errors.at('involvedObject', 'namespace').invalid(involved, MISPLACED);
    validateReport(event, controllerField, errors);
  }
  for (const error of dns1123SubdomainErrors(namespace)) errors.at('namespace').invalid(namespace, error);
}

function validateReport(
  { reportingComponent, reportingInstance, action = '', reason = '', message = '' }: Event,
  controllerField: string,
  errors: FieldErrors,
): void {
  if (reportingComponent === '') errors.at(controllerField).required();
  for (const error of qualifiedNameErrors(reportingComponent)) errors.at(controllerField).invalid(reportingComponent, error);
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === '') errors.at(field).required();
    validateLength(value, WORD_MAX_BYTES, errors.at(field));
  }
  validateLength(message, MESSAGE_MAX_BYTES, errors.at('message'));
}

function validateLength(value: string, maxBytes: number, errors: FieldErrors): void {
  if (Buffer.byteLength(value) > maxBytes) errors.invalid('', `can have at most ${maxBytes} characters`);
}

export const eventCells: Record<string, Cell<Event>> = {
  'Last Seen': lastSeen,
  Type: ({ type }) => type ?? '',
  Reason: ({ reason }) => reason ?? '',
  Object: ({ involvedObject: { kind = '', name } }) => (name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()),
  Subobject: ({ involvedObject }) => involvedObject.fieldPath ?? '',
  Source: ({ source, reportingComponent, reportingInstance }) =>
    [source.component || reportingComponent, source.host || reportingInstance].filter((part, index) => index === 0 || part !== '').join(', '),
  Message: ({ message = '' }) => message.trim(),
  'First Seen': firstSeen,
  // An event that is told once has no count in the newer API.
  Count: ({ count, series }) => (series ? (series.count ?? 0) : count || 1),
};

function firstSeen({ firstTimestamp, eventTime }: Event, now: Date): string {
  return ageSince(firstTimestamp ?? eventTime ?? undefined, now);
}

function lastSeen(event: Event, now: Date): string {
  if (event.series) return ageSince(event.series.lastObservedTime ?? undefined, now);
  return event.lastTimestamp ? ageSince(event.lastTimestamp, now) : firstSeen(event, now);
}
