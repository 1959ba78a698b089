import { warningEvent } from '../../apis/core/warning-event.ts';
import type { Event } from '../../apis/facts/types/core-v1.ts';
import type { ApiObject } from '../../api/api-object.ts';
import type { Client } from '../../client/client.ts';

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
    const about = { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    const event = warningEvent({ about, component: COMPONENT, reason, message, now: this.#options.now() });
    this.#client
      .resource<Event>('', 'events')
      .create('default', event)
      .catch((error: Error) => this.#options.report(error));
  }
}
