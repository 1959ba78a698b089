import { timeOf } from '../../util/time.ts';
import type { Event, ObjectReference } from '../facts/types/core-v1.ts';

interface Warning {
  about: ObjectReference;
  component: string;
  reason: string;
  message: string;
  now: Date;
}

/** What a controller reports of an object, as client-go's recorder makes it: named after its object and the nanosecond in hexadecimal (tools/record/event.go). */
export function warningEvent({ about, component, reason, message, now }: Warning): Event {
  const moment = (BigInt(now.getTime()) * 1_000_000n).toString(16);
  return {
    kind: 'Event',
    apiVersion: 'v1',
    // Those about what has no namespace are in "default".
    metadata: { name: `${about.name}.${moment}`, namespace: about.namespace ?? 'default' },
    involvedObject: about,
    reason,
    message,
    source: { component },
    firstTimestamp: timeOf(now),
    lastTimestamp: timeOf(now),
    count: 1,
    type: 'Warning',
    eventTime: null,
    reportingComponent: component,
    reportingInstance: '',
  };
}
