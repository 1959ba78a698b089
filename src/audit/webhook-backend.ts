import { setTimeout as sleepFor } from 'node:timers/promises';
import type { AuditBackend, AuditObserver } from './backend.ts';
import { encodeEventList } from './encode-event.ts';
import type { AuditEvent } from './event.ts';

/** The server that events are sent to. */
export interface EventReceiver {
  /** Rejects when it did not take them. */
  post(body: readonly Buffer[]): Promise<unknown>;
  close(): void;
}

export interface WebhookOptions {
  /** Before the second try; each further wait is 1.5 times the last, with a fifth at random. */
  initialBackoffMs: number;
  sleep?: (durationMs: number) => Promise<void>;
}

const TRIES = 5;
const BACKOFF_FACTOR = 1.5;
const JITTER = 0.2;

/** Sends events as an EventList. Whatever goes wrong is tried again: hardly any error is a reason to lose them (apiserver/plugin/pkg/audit/webhook). */
export function webhookBackend(receiver: EventReceiver, { initialBackoffMs, sleep = sleepFor }: WebhookOptions, observer: AuditObserver): AuditBackend {
  const underWay = new Set<Promise<boolean>>();
  const send = async (events: readonly AuditEvent[]): Promise<boolean> => {
    const body = await encodeEventList(events);
    for (let attempt = 1, delayMs = initialBackoffMs; ; attempt++, delayMs *= BACKOFF_FACTOR) {
      try {
        await receiver.post(body);
        return true;
      } catch (error) {
        if (attempt < TRIES) await sleep(delayMs * (1 + Math.random() * JITTER));
        else {
          observer.onError('webhook', (error as Error).message, events);
          return false;
        }
      }
    }
  };
  return {
    process(events) {
      const sent = send(events).finally(() => underWay.delete(sent));
      underWay.add(sent);
      return sent;
    },
    async close() {
      while (underWay.size > 0) await Promise.all(underWay);
      receiver.close();
    },
  };
}
