import { type AuditBackend, type AuditObserver, inTurn } from './backend.ts';
import { encodedSizeBytes } from './encode-event.ts';
import { type AuditEvent, isAtLeast } from './event.ts';

export interface TruncateOptions {
  maxEventBytes: number;
  maxBatchBytes: number;
}

const ANNOTATION = 'audit.k8s.io/truncated';

/**
 * Takes request and response off events that are too large, drops those that still are, and splits batches that are too large
 * (apiserver/plugin/pkg/audit/truncate).
 */
export function truncating(backend: AuditBackend, { maxEventBytes, maxBatchBytes }: TruncateOptions, observer: AuditObserver): AuditBackend {
  return {
    process(events) {
      const sized = events.map((event) => fitted(event, maxEventBytes));
      const lost = sized.filter(({ sizeBytes }) => sizeBytes > maxEventBytes).map(({ event }) => event);
      if (lost.length > 0) observer.onError('truncate', 'event is too large even after truncating', lost);
      const kept = sized.filter(({ sizeBytes }) => sizeBytes <= maxEventBytes);
      return inTurn(batches(kept, maxBatchBytes).map((batch) => () => backend.process(batch)));
    },
    close: () => backend.close(),
  };
}

interface SizedEvent {
  event: AuditEvent;
  sizeBytes: number;
}

function fitted(event: AuditEvent, maxEventBytes: number): SizedEvent {
  const sizeBytes = encodedSizeBytes(event);
  if (sizeBytes <= maxEventBytes || !isAtLeast(event.level, 'Request')) return { event, sizeBytes };
  const annotations = new Map(event.annotations).set(ANNOTATION, 'true');
  const truncated: AuditEvent = { ...event, requestObject: undefined, responseObject: undefined, annotations, encoded: undefined };
  return { event: truncated, sizeBytes: encodedSizeBytes(truncated) };
}

function batches(events: readonly SizedEvent[], maxBatchBytes: number): AuditEvent[][] {
  const all: AuditEvent[][] = [];
  let leftBytes = 0;
  for (const { event, sizeBytes } of events) {
    if (all.length === 0 || sizeBytes > leftBytes) {
      all.push([]);
      leftBytes = maxBatchBytes;
    }
    all.at(-1)!.push(event);
    leftBytes -= sizeBytes;
  }
  return all;
}
