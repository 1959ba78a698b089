import type { ResourceDefinition } from '../../registry/definition.ts';
import { validateMetadata, validateMetadataUpdate } from '../../registry/metadata.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { equalJson } from '../../encoding/json-equal.ts';
import { subdomainName } from '../../api/names.ts';
import { eventCells, eventTraits, validateEvent } from '../core/event.ts';
import { defineResource } from '../define.ts';
import type { Event as CoreEvent } from '../facts/types/core-v1.ts';
import type { Event } from '../facts/types/events-v1.ts';
import { validateFinalizerNames } from '../validation/finalizer-names.ts';
import { type InternalFields, internalForm } from '../validation/internal-form.ts';
import { validateUnchanged } from '../validation/immutable.ts';

const UNSET = 'needs to be unset';

const REFERENCE: InternalFields = [
  ['Kind', 'kind', ''],
  ['Namespace', 'namespace', ''],
  ['Name', 'name', ''],
  ['UID', 'uid', ''],
  ['APIVersion', 'apiVersion', ''],
  ['ResourceVersion', 'resourceVersion', ''],
  ['FieldPath', 'fieldPath', ''],
];
const SOURCE: InternalFields = [
  ['Component', 'component', ''],
  ['Host', 'host', ''],
];

/** The events of core/v1 under newer names, with stricter rules for whoever writes them here. `ttlSeconds`: --event-ttl. */
export const defineEvents = (ttlSeconds: number): ResourceDefinition<CoreEvent> =>
  defineResource<CoreEvent>('events.k8s.io/v1/events', {
    ...eventTraits(ttlSeconds),
    storedAs: { name: 'v1/events', toStored: toCore, fromStored: fromCore },

    validate({ object: event }, errors) {
      validateEvent(event, 'reportingController', errors);
      validateMetadata(event.metadata, true, subdomainName, errors.at('metadata'));
      validateFinalizerNames(event.metadata, errors);
      validateSeries(event, errors);
      validateNewer(event, errors);
    },
    validateUpdate({ object: event, old }, errors) {
      validateEvent(event, 'reportingController', errors);
      validateMetadataUpdate(event.metadata, old.metadata, errors.at('metadata'));
      validateFinalizerNames(event.metadata, errors);
      if (!equalJson(event.series, old.series)) validateSeries(event, errors);
      validateOnlySeriesChanged(event, old, errors);
    },

    selectable: {
      'regarding.kind': ({ involvedObject }) => involvedObject.kind ?? '',
      'regarding.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
      'regarding.name': ({ involvedObject }) => involvedObject.name ?? '',
      'regarding.uid': ({ involvedObject }) => involvedObject.uid ?? '',
      'regarding.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
      'regarding.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
      'regarding.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
      reason: ({ reason }) => reason ?? '',
      reportingController: ({ reportingComponent }) => reportingComponent,
      type: ({ type }) => type ?? '',
    },
    cells: eventCells,
  });

function validateSeries({ series }: CoreEvent, errors: FieldErrors): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) errors.at('series.count').invalid('', 'should be at least 2');
  if (!series.lastObservedTime) errors.at('series.lastObservedTime').required();
}

/** A new event uses none of what only the older API had. */
function validateNewer({ eventTime, type = '', firstTimestamp, lastTimestamp, count, source }: CoreEvent, errors: FieldErrors): void {
  if (!eventTime) errors.at('eventTime').required();
  if (type !== 'Normal' && type !== 'Warning') errors.at('type').invalid('', `has invalid value: ${type}`);
  if (firstTimestamp) errors.at('firstTimestamp').invalid('', UNSET);
  if (lastTimestamp) errors.at('lastTimestamp').invalid('', UNSET);
  if (count) errors.at('count').invalid('', UNSET);
  if (source.component || source.host) errors.at('source').invalid('', UNSET);
}

function validateOnlySeriesChanged(event: CoreEvent, old: CoreEvent, errors: FieldErrors): void {
  const keepText = (...fields: ('reason' | 'message' | 'type' | 'action')[]): void => {
    for (const field of fields) validateUnchanged(event[field] ?? '', old[field] ?? '', errors.at(field));
  };
  validateUnchanged(event.involvedObject, old.involvedObject, errors.at('involvedObject'), () => internalForm(event.involvedObject, REFERENCE));
  keepText('reason', 'message');
  validateUnchanged(event.source, old.source, errors.at('source'), () => internalForm(event.source, SOURCE));
  validateUnchanged(event.firstTimestamp, old.firstTimestamp, errors.at('firstTimestamp'));
  validateUnchanged(event.lastTimestamp, old.lastTimestamp, errors.at('lastTimestamp'));
  validateUnchanged(event.count ?? 0, old.count ?? 0, errors.at('count'));
  keepText('reason', 'type');
  validateUnchanged(event.eventTime, old.eventTime, errors.at('eventTime'));
  keepText('action');
  validateUnchanged(event.related, old.related, errors.at('related'), () => internalForm(event.related, REFERENCE));
  validateUnchanged(event.reportingComponent, old.reportingComponent, errors.at('reportingController'));
  validateUnchanged(event.reportingInstance, old.reportingInstance, errors.at('reportingInstance'));
}

function toCore(object: ApiObject): CoreEvent {
  const {
    regarding,
    deprecatedSource,
    note,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    reportingController = '',
    reportingInstance = '',
    ...same
  } = object as Event;
  const renamed = {
    involvedObject: regarding,
    source: deprecatedSource,
    message: note,
    firstTimestamp: deprecatedFirstTimestamp,
    lastTimestamp: deprecatedLastTimestamp,
    count: deprecatedCount,
  };
  return present({ ...same, ...renamed, reportingComponent: reportingController, reportingInstance, apiVersion: 'v1' }) as unknown as CoreEvent;
}

function fromCore(object: ApiObject): Event {
  const { involvedObject, source, message, firstTimestamp, lastTimestamp, count, reportingComponent, reportingInstance, series, ...same } = object as CoreEvent;
  const renamed = {
    regarding: involvedObject,
    deprecatedSource: source,
    note: message,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  };
  const reported = { reportingController: reportingComponent || undefined, reportingInstance: reportingInstance || undefined };
  return present({
    ...same,
    series: series && { count: series.count ?? 0, ...series },
    ...renamed,
    ...reported,
    apiVersion: 'events.k8s.io/v1',
  }) as unknown as Event;
}

const present = (fields: object): object => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
