import { expect, test } from 'vitest';
import { decode } from '../../schema/decode.ts';
import { normalize } from '../../schema/normalize.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { JsonObject } from '../../encoding/json-types.ts';
import type { Event as CoreEvent } from '../facts/types/core-v1.ts';
import { testWrite, updated } from '../testing/kind-tester.ts';
import { defineEvents } from './event.ts';

const events = defineEvents(3600);
const served = events.served[0]!;
const GOOD = {
  metadata: { name: 'e', namespace: 'default' },
  eventTime: '2026-01-02T03:04:05.000006Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Start',
  reason: 'Started',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  note: 'runs',
  type: 'Normal',
};

function stored(sent: object): CoreEvent {
  const object = { kind: 'Event', apiVersion: 'events.k8s.io/v1', ...decode(served.schema, sent as JsonObject) } as unknown as ApiObject;
  return normalize(events.schema, served.toStored!(object) as unknown as JsonObject) as unknown as CoreEvent;
}

function problemsOf(sent: object): string[] {
  const errors = new FieldErrors();
  events.validate!(testWrite(stored(sent)), errors);
  return errors.list.map(({ field, body }) => `${field}: ${body}`);
}

test('an event goes into its older form and back', () => {
  const event = stored(GOOD);
  expect(event).toMatchObject({
    apiVersion: 'v1',
    involvedObject: GOOD.regarding,
    message: 'runs',
    reportingComponent: 'example.com/c',
    source: {},
    firstTimestamp: null,
  });
  expect(served.fromStored!(event)).toMatchObject({ ...GOOD, apiVersion: 'events.k8s.io/v1', deprecatedSource: {}, deprecatedFirstTimestamp: null });
  expect(events).toMatchObject({ group: 'events.k8s.io', storage: { group: '', prefix: 'events' } });
  expect(events.storage.ttlSeconds!(event)).toBe(3600);
});

test('new events use none of what only the older form had', () => {
  expect(problemsOf(GOOD)).toEqual([]);
  expect(problemsOf({ ...GOOD, type: 'Odd', deprecatedCount: 1, deprecatedSource: { host: 'h' }, series: { count: 1 } })).toEqual([
    'series.count: Invalid value: "": should be at least 2',
    'series.lastObservedTime: Required value',
    'type: Invalid value: "": has invalid value: Odd',
    'count: Invalid value: "": needs to be unset',
    'source: Invalid value: "": needs to be unset',
  ]);
  expect(problemsOf({ ...GOOD, eventTime: null })).toEqual(['eventTime: Required value']);
  expect(problemsOf({ ...GOOD, reportingController: '', action: 'x'.repeat(129) }).slice(0, 2)).toEqual([
    'reportingController: Required value',
    'reportingController: Invalid value: "": name part must be non-empty',
  ]);
});

test('only the series changes', () => {
  const old = { ...stored(GOOD), metadata: { ...GOOD.metadata, resourceVersion: '1' } } as CoreEvent;
  expect(updated(events, old, (event) => void (event.series = { count: 2, lastObservedTime: '2026-01-02T03:05:05.000006Z' })).problems).toEqual([]);
  expect(updated(events, old, (event) => Object.assign(event, { reason: 'Other', related: { name: 'x' } })).problems).toEqual([
    'reason: Invalid value: "Other": field is immutable',
    'related: Invalid value: {"Kind":"","Namespace":"","Name":"x","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
  ]);
});
