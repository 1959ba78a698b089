import type { WebhookClientConfig } from '../../apis/facts/types/admissionregistration-v1.ts';
import type { Credentials } from '../../client/kubeconfig.ts';
import { WebhookClient } from '../../client/webhook-client.ts';
import { type WebhookRoutes, routeToWebhook } from '../../client/webhook-route.ts';

/** How the servers of webhooks are reached, and whom they are called as. */
export interface CallEnvironment {
  routes: WebhookRoutes;
  /** `host`: with its port. */
  credentialsFor(host: string): Credentials;
}

/** A patch may hold the whole of an object that is as large as a request may be, in base64. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Calls one webhook server, over connections that are kept until nobody needs it any more. */
export class WebhookCaller {
  readonly #client: WebhookClient;
  #callsUnderWay = 0;
  #isRetired = false;

  constructor(config: WebhookClientConfig, timeoutMs: number, { routes, credentialsFor }: CallEnvironment) {
    const { endpoint, dial, host } = routeToWebhook(config, routes);
    this.#client = new WebhookClient({ ...endpoint, ...credentialsFor(host) }, { timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, dial });
  }

  /** Throws WebhookError. */
  async post(body: string, signal: AbortSignal | undefined, traceparent?: string): Promise<Buffer> {
    this.#callsUnderWay++;
    try {
      return await this.#client.post(body, signal, traceparent);
    } finally {
      this.#callsUnderWay--;
      this.#closeWhenIdle();
    }
  }

  /** Calls under way may end; a late one still works. */
  retire(): void {
    this.#isRetired = true;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#isRetired && this.#callsUnderWay === 0) this.#client.close();
  }
}
