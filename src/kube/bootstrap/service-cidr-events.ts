import type { Event } from '../../apis/facts/types/core-v1.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { Client } from '../../client/client.ts';
import { timeOf } from '../../util/time.ts';

const COMPONENT = 'kubernetes-service-cidr-controller';

/** Warnings about the default ServiceCIDR, as Event objects. Each reason is told once in a server's life, as the controller looks every ten seconds. */
export class ServiceCidrEvents {
  readonly #client: Client;
  readonly #options: { report(error: Error): void; now(): Date };
  readonly #told = new Set<string>();

  constructor(client: Client, options: { report(error: Error): void; now(): Date }) {
    this.#client = client;
    this.#options = options;
  }

  /** Nobody waits for it: admission webhooks may be asked about events, and at start-up they may not answer yet. */
  warn({ metadata: { name = '', uid, resourceVersion } }: ApiObject, reason: string, message: string): void {
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    const now = this.#options.now();
    const event: Event = {
      kind: 'Event',
      apiVersion: 'v1',
      // Named as client-go names events: after their object and the nanosecond in hexadecimal. Of what has no namespace, they are in "default".
      metadata: { name: `${name}.${(BigInt(now.getTime()) * 1_000_000n).toString(16)}`, namespace: 'default' },
      involvedObject: { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      reason,
      message,
      source: { component: COMPONENT },
      firstTimestamp: timeOf(now),
      lastTimestamp: timeOf(now),
      count: 1,
      type: 'Warning',
      eventTime: null,
      reportingComponent: COMPONENT,
      reportingInstance: '',
    };
    this.#client
      .resource<Event>('', 'events')
      .create('default', event)
      .catch((error: Error) => this.#options.report(error));
  }
}
