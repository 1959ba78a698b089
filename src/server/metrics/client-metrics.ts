import type { MetricRegistry } from '../../metrics/registry.ts';

type Method = 'GET' | 'LIST' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One call of the in-process client. */
export interface ClientCall {
  method: Method;
  group: string;
  resource: string;
  subresource: string;
}

/**
 * What is counted of calls that the server makes to itself: upstream's come over TLS, so that its client counts them (client-go/tools/metrics) and its
 * server does too (apiserver_selfrequest_total). Sizes are those of the objects as they are stored.
 */
export class ClientMetrics {
  readonly #families;
  readonly #host: () => string;

  constructor(registry: MetricRegistry, host: () => string) {
    this.#host = host;
    this.#families = {
      self: registry.family('apiserver_selfrequest_total'),
      total: registry.family('rest_client_requests_total'),
      seconds: registry.family('rest_client_request_duration_seconds'),
      sent: registry.family('rest_client_request_size_bytes'),
      received: registry.family('rest_client_response_size_bytes'),
    };
  }

  called({ method, group, resource, subresource }: ClientCall, code: number, startMs: number, sentBytes: number, receivedBytes: number): void {
    const { self, total, seconds, sent, received } = this.#families;
    const host = this.#host();
    const verb = method === 'LIST' ? 'GET' : method;
    self.with(method, group, resource, subresource).inc();
    total.with(String(code), verb, host).inc();
    seconds.with(verb, host).observe((performance.now() - startMs) / 1000);
    sent.with(verb, host).observe(sentBytes);
    received.with(verb, host).observe(receivedBytes);
  }
}
